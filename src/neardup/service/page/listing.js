// Lists that come in pages: all rows of a route that were asked for, and a button for more.
import { fill, make } from "./elements.js";
import { button, problem } from "./parts.js";
import { ask, ofStore } from "./requests.js";

const PAGE = 20;

// A list of a route: the name of its rows, and that of the parameter which says where the next page begins.
export class Listing {
  #route; #name; #parameter; #next;
  rows = [];

  constructor(route, name, parameter) {
    this.#route = route;
    this.#name = name;
    this.#parameter = parameter;
  }

  forget() {
    this.rows = [];
    this.#next = undefined;
  }

  async #more(store) {
    const found = await ask(ofStore(store, this.#route), { limit: PAGE, ...(this.#next === undefined ? {} : { [this.#parameter]: this.#next }) });
    this.rows.push(...found[this.#name]);
    this.#next = found.next ?? null;
  }

  // The rows as elements; `above`: what stands above them, made of the rows.
  async shown(store, row, above = () => null) {
    if (this.#next === undefined) await this.#more(store);
    const place = make("div");
    const list = () => fill(place, above(), make("ol", { class: "matches" }, this.rows.map(row)),
      this.#next === null ? null : button("show_more", async () => {
        try { await this.#more(store); list(); } catch (found) { place.append(problem(found)); }
      }, { class: "quiet more" }));
    list();
    return place;
  }
}
