// The page: its views by the address's fragment, the store, the language and the token.
import * as browse from "./browse.js";
import * as check from "./check.js";
import * as compare from "./compare.js";
import { fill, make } from "./elements.js";
import { LANGUAGES, languageNow, say, setLanguage } from "./language.js";
import * as numbers from "./numbers.js";
import { problem } from "./parts.js";
import * as review from "./review.js";
import { poll } from "./series.js";
import { ask, hasToken, ofStore, setToken, whenTokenIsWanted } from "./requests.js";
import { plainly } from "./visible.js";

const VIEWS = { check, compare, browse, numbers, review };
const main = document.getElementById("main");
const state = { stores: [], store: null, infos: new Map(), wantsTokens: hasToken() };

const viewNow = () => (Object.hasOwn(VIEWS, location.hash.slice(1)) ? location.hash.slice(1) : "check");

const context = {
  get store() { return state.store; },
  info(isFresh = false) {
    if (isFresh || !state.infos.has(state.store)) {
      const asked = ask(ofStore(state.store, "info"));
      state.infos.set(state.store, asked);
      asked.catch(() => state.infos.delete(state.store));
    }
    return state.infos.get(state.store);
  },
};

function showView() {
  const view = viewNow();
  document.title = `${say(`view_${view}`)} – neardup`;
  fill(document.getElementById("views"), Object.keys(VIEWS).map((each) =>
    make("a", { href: `#${each}`, "aria-current": each === view ? "page" : undefined }, say(`view_${each}`))));
  main.className = `view-${view}`;
  fill(main, state.store === null ? make("p", { class: "waiting" }, say("waiting")) : VIEWS[view].show(context));
}

function showSettings() {
  const choice = (id, label, rows, chosen, action) => make("span", { class: "choice" },
    make("label", { for: id }, label),
    make("select", { id, onchange: (event) => action(event.target.value) },
      rows.map(([value, name, lang]) => make("option", { value, lang, selected: value === chosen }, name))));
  fill(document.getElementById("settings"),
    state.stores.length > 1
      ? choice("store", say("store"), state.stores.map((each) => [each, plainly(each)]), state.store, setStore)
      : state.store === null ? null : make("span", { class: "choice" }, make("span", { class: "soft" }, say("store")), " ", make("b", {}, plainly(state.store))),
    choice("language", say("language"), Object.entries(LANGUAGES).map(([value, name]) => [value, name, value]), languageNow(), (value) => { setLanguage(value); showAll(); document.getElementById("language").focus(); }),
    state.wantsTokens ? make("button", { type: "button", id: "token", class: "quiet", onclick: () => askForToken() }, say("token")) : null);
}

function showAll() {
  document.documentElement.lang = languageNow() === "zh" ? "zh-Hans" : languageNow();
  document.getElementById("skip").textContent = say("skip_to_content");
  document.getElementById("views").setAttribute("aria-label", say("views"));
  fill(document.getElementById("foot"), make("p", {}, say("private")), make("p", {}, make("a", { href: "v1/openapi.json" }, say("routes"))));
  showSettings();
  showView();
}

function setStore(name) {
  state.store = name;
  for (const view of Object.values(VIEWS)) view.forget();
  showView();
}

// Ask the user for a token; whether there is a new one. It is in the memory of the tab until it is forgotten or the tab is closed.
function askForToken(refusal = null) {
  state.wantsTokens = true;
  showSettings();
  return new Promise((done) => {
    const input = make("input", { id: "given-token", type: "password", autocomplete: "off", spellcheck: "false" });
    let isGiven = false;
    const use = (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      setToken(input.value.trim());
      isGiven = true;
      dialog.close();
      if (!refusal) begin();
    };
    const forget = () => {
      setToken("");
      dialog.close();
      begin(true);
    };
    const dialog = make("dialog", { "aria-labelledby": "token-title", onclose: () => { dialog.remove(); done(isGiven); } },
      make("form", { onsubmit: use },
        make("h2", { id: "token-title" }, say("token_title")), make("p", {}, say("token_means")),
        refusal && hasToken() ? make("p", { class: "notice problem", role: "alert" }, plainly(refusal.message)) : null,
        make("label", { for: "given-token" }, say("token")), input,
        make("div", { class: "actions" }, make("button", { type: "submit", class: "main" }, say("use_token")),
          make("button", { type: "button", onclick: forget }, say("forget_token")))));
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}

async function begin(isQuiet = false) {
  try {
    const { stores } = await ask("v1/stores", undefined, { quiet: isQuiet });
    state.stores = stores;
    state.store = stores.includes(state.store) ? state.store : stores[0];
    state.infos.clear();
    showAll();
  } catch (found) {
    state.store = null;
    showAll();
    fill(main, problem(found), make("button", { type: "button", onclick: () => begin() }, say("try_again")));
  }
  poll();
}

whenTokenIsWanted(askForToken);
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
window.addEventListener("hashchange", () => { showView(); main.focus({ preventScroll: true }); window.scrollTo(0, 0); });
showAll();
begin();
