// What is known of documents: asked by their ids, and shown as a list of matches, each with its similarity and its text.
import { bar, fill, make, twoLinesOfId } from "./elements.js";
import { moment, number, say, similarity } from "./language.js";
import { write } from "./json.js";
import { metadata, showing, sideBySide } from "./parts.js";
import { ask, ofStore } from "./requests.js";

const MOST = 200; // ids in a question

// The kept documents of some ids, by id as JSON.
export async function documentsOf(store, ids) {
  const found = new Map();
  for (let first = 0; first < ids.length; first += MOST) {
    const { documents } = await ask(ofStore(store, "get"), { ids: ids.slice(first, first + MOST) });
    for (const each of documents) found.set(write(each.id), each);
  }
  return found;
}

export const facts = (document) => [
  document.tokens === undefined ? null : say("tokens_count", { count: number(document.tokens) }),
  say("seen_at", { time: moment(document.last_seen) }),
].filter(Boolean).join(" · ");

// One match: similarity, id, what is known of it; with both texts, it opens to show them side by side.
function matchRow(match, { store, text, name, document, info, isFirst, walk }) {
  const value = match.similarity ?? 1 - match.distance / info.recipe.bits;
  const shown = match.similarity === null ? say("bits_differ", { count: number(match.distance) }) : similarity(match.similarity, info.min_similarity);
  const place = make("div", { class: "opened" });
  const hasTexts = text !== null && typeof document?.text === "string";
  const open = hasTexts ? make("button", { type: "button", class: "quiet", "aria-expanded": "false" }, say("show_beside")) : null;
  const toggle = async () => {
    const opens = open.getAttribute("aria-expanded") !== "true";
    open.setAttribute("aria-expanded", String(opens));
    if (!opens) return fill(place);
    const names = [name, { role: say("kept_document"), id: match.id }];
    await showing(place, () => sideBySide(store, text, document.text, names));
  };
  open?.addEventListener("click", toggle);
  if (open && isFirst) toggle();
  return make("li", { class: "match" },
    make("div", { class: "match-head" },
      make("span", { class: "value" }, shown),
      bar(value, { threshold: match.similarity === null ? null : info.min_similarity, label: say("similarity_of", { value: shown }) }),
      make("span", { class: "who" },
        walk ? make("button", { type: "button", class: "link", onclick: () => walk(match.id) }, twoLinesOfId(match.id)) : twoLinesOfId(match.id),
        make("span", { class: "soft" }, say("distance_of", { count: number(match.distance), bits: number(info.recipe.bits) }))),
      open),
    document ? make("p", { class: "known soft" }, metadata(document.metadata, write), " ", facts(document)) : null,
    place);
}

// Matches as a list; `text`: what they match, or null, and `name`: what that is; `walk`: what a click on an id does.
export function matchList(matches, { store, text, name, documents, info, walk = null, opensFirst = true }) {
  return make("ol", { class: "matches" }, matches.map((each, place) =>
    matchRow(each, { store, text, name, document: documents.get(write(each.id)), info, isFirst: opensFirst && place === 0, walk })));
}

// Whether the store keeps the texts of documents: null if it has none of these.
export function keepsTexts(documents) {
  for (const each of documents.values()) return typeof each.text === "string";
  return null;
}
