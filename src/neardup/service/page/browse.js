// BROWSE: what the store has removed lately, its orphans, and a kept document with its neighbors, from one to the next.
import { fill, idElement, make, nameOfId, textElement, twoLinesOfId } from "./elements.js";
import { documentsOf, matchList } from "./documents.js";
import { moment, number, say, saying, similarity, threshold } from "./language.js";
import { write } from "./json.js";
import { Listing } from "./listing.js";
import { answering, metadata, showing, sideBySide, told } from "./parts.js";
import { ask, ofStore } from "./requests.js";
import { clipped, languageOf, plainly } from "./visible.js";

const EXCERPT = 240;
const LARGEST = 6; // families that are named
const removals = new Listing("recent", "duplicates", "before");
const orphans = new Listing("orphans", "orphans", "after");
const state = { asked: "", trail: [] };

export function forget() {
  removals.forget();
  orphans.forget();
  state.trail = [];
}

// ------------------------------------------------------------------------------------------------ recent duplicates

function recentRow(store, each, walk, info) {
  const place = make("div", { class: "opened" });
  const hasId = each.id !== undefined && each.id !== null;
  const hasTexts = typeof each.text === "string" && typeof each.survivor_text === "string";
  const open = hasTexts ? make("button", { type: "button", class: "quiet", "aria-expanded": "false" }, say("show_beside")) : null;
  open?.addEventListener("click", async () => {
    const opens = open.getAttribute("aria-expanded") !== "true";
    open.setAttribute("aria-expanded", String(opens));
    if (!opens) return fill(place);
    const names = [{ role: say("kept_document"), id: each.duplicate_of }, { role: say("removed_document"), id: hasId ? each.id : null, otherwise: say("a_duplicate") }];
    await showing(place, () => sideBySide(store, each.survivor_text, each.text, names));
  });
  const value = each.exact ? say("equal") : each.similarity === null ? say("bits_differ", { count: number(each.distance) }) : similarity(each.similarity, info.min_similarity);
  return make("li", { class: "match" },
    make("div", { class: "match-head recent" },
      make("span", { class: "value" }, value),
      make("span", { class: "who" },
        make("span", {}, hasId ? [twoLinesOfId(each.id), " · "] : null, saying("duplicate_of", { id: make("button", { type: "button", class: "link", onclick: () => walk(each.duplicate_of) }, twoLinesOfId(each.duplicate_of)) })),
        make("span", { class: "soft" }, moment(each.seen))),
      open),
    typeof each.text === "string"
      ? make("p", { class: "excerpt", lang: languageOf(each.text) || undefined, dir: "auto" }, plainly(clipped(each.text, EXCERPT))) : null,
    place);
}

// Survivors with most of the duplicates that are listed.
function families(walk) {
  const counts = new Map();
  for (const each of removals.rows) {
    const key = write(each.duplicate_of);
    counts.set(key, { id: each.duplicate_of, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const largest = [...counts.values()].filter((each) => each.count > 1).sort((a, b) => b.count - a.count).slice(0, LARGEST);
  if (!largest.length) return null;
  return make("p", { class: "families" }, make("span", { class: "soft" }, say("largest_families")), " ",
    largest.map((each) => make("button", { type: "button", class: "chip", onclick: () => walk(each.id) }, idElement(each.id), " ", make("b", {}, number(each.count)))));
}

async function recent(context, walk) {
  const info = await context.info();
  const shown = await removals.shown(context.store, (each) => recentRow(context.store, each, walk, info), () => families(walk));
  return removals.rows.length ? shown : make("p", { class: "notice" }, say("nothing_removed"));
}

// --------------------------------------------------------------------------------------------------------- orphans

const orphanRow = (each) => make("li", { class: "match" },
  make("div", { class: "who" }, twoLinesOfId(each.id),
    make("span", { class: "soft" }, saying("orphan_since", { time: moment(each.orphaned) }), each.compared ? null : [" · ", say("orphan_not_compared")])));

// Few stores have any, so the panel comes with the first one.
async function orphansPanel({ store }) {
  const shown = await orphans.shown(store, orphanRow);
  return orphans.rows.length === 0 ? null : make("section", { class: "panel", "aria-labelledby": "orphans-title" },
    make("h2", { id: "orphans-title" }, say("orphans")), make("p", { class: "soft" }, say("orphans_means")), shown);
}

// ------------------------------------------------------------------------------------------------------ one document

// Ids that somebody may mean: 17 and "17" are two.
const meant = (text) => (/^(0|-?[1-9]\d{0,999})$/.test(text) ? [BigInt(text), text] : [text]);

async function lookedUp(context, ids, walk) {
  const { store } = context;
  const [info, documents] = await Promise.all([context.info(), documentsOf(store, ids)]);
  if (!documents.size) {
    // Somebody who looks up a document that was removed wants to know in favor of which.
    const asked = ids.map((id) => write(id));
    const isAsked = (each) => each.id !== undefined && asked.includes(write(each.id));
    const removed = removals.rows.filter(isAsked);
    const left = orphans.rows.filter(isAsked);
    return [
      make("p", { class: "notice", role: "alert" }, saying("no_document", { id: idElement(ids.at(-1)) })),
      removed.length ? make("ol", { class: "matches" }, removed.map((each) => recentRow(store, each, walk, info))) : null,
      left.length ? [make("p", { class: "soft" }, say("orphans_means")), make("ol", { class: "matches" }, left.map(orphanRow))] : null,
    ];
  }
  const given = info.floor && info.floor < info.min_similarity ? { min_similarity: info.floor } : {};
  return Promise.all([...documents.values()].map(async (document) => {
    const { neighbors } = await ask(ofStore(store, "neighbors"), { id: document.id, ...given });
    const known = await documentsOf(store, neighbors.map((each) => each.id));
    const removed = removals.rows.filter((each) => write(each.duplicate_of) === write(document.id)).length;
    return card(context, document, { neighbors, known, info, removed, walk });
  }));
}

function card({ store }, document, { neighbors, known, info, removed, walk }) {
  const text = typeof document.text === "string" ? document.text : null;
  return make("article", { class: "card" },
    make("h3", {}, idElement(document.id)),
    told(
      [say("first_seen"), moment(document.first_seen)], [say("last_seen"), moment(document.last_seen)],
      document.expires === null ? null : [say("expires"), moment(document.expires)],
      [say("tokens"), number(document.tokens)],
      removed ? [say("duplicates_lately"), number(removed)] : null,
      [say("fingerprint"), make("code", {}, document.fingerprint), true],
      document.metadata === null || document.metadata.size === 0 ? null : [say("metadata"), metadata(document.metadata, write), true]),
    text === null ? make("p", { class: "soft" }, say("no_texts")) : textElement(clipped(text, 1200), { class: "text quoted" }),
    make("h4", {}, say("neighbors", { count: number(neighbors.length) })),
    neighbors.length
      ? matchList(neighbors, { store, text, name: { role: say("kept_document"), id: document.id }, documents: known, info, walk, opensFirst: false })
      : make("p", { class: "soft" }, say(info.floor ? "no_neighbors" : "no_neighbors_without_floor", { value: threshold(info.floor || info.min_similarity) })));
}

export function show(context) {
  const found = make("div", { class: "result", id: "document", tabindex: -1 });
  const trail = make("p", { class: "families", id: "trail" });
  const titles = (place) => [...place.querySelectorAll("h3, h4")].map((each) => each.textContent).join(", ");
  const look = (ids) => answering(found, () => lookedUp(context, ids, walk), titles);
  const walked = () => fill(trail, state.trail.length > 1
    ? state.trail.slice(-8).map((id) => make("button", { type: "button", class: "chip", onclick: () => look([id]) }, nameOfId(id))) : null);
  function walk(id) {
    state.trail = [...state.trail.filter((each) => write(each) !== write(id)), id];
    walked();
    state.asked = input.value = String(id);
    look([id]);
    found.closest("section").scrollIntoView({ block: "start" });
    found.focus({ preventScroll: true });
  }
  const input = make("input", { id: "asked", type: "text", value: state.asked, autocomplete: "off", spellcheck: "false", oninput: (event) => { state.asked = event.target.value; } });
  const lately = make("div", { id: "recent" });
  showing(lately, () => recent(context, walk));
  const orphaned = make("div", { id: "orphans" });
  showing(orphaned, () => orphansPanel(context));
  if (state.trail.length) { walked(); look([state.trail.at(-1)]); }
  return [
    make("h1", {}, say("browse_title")), make("p", { class: "lead" }, say("browse_lead")),
    make("section", { class: "panel" }, make("h2", {}, say("one_document")),
      make("form", { class: "inline", onsubmit: (event) => { event.preventDefault(); if (input.value.trim()) look(meant(input.value.trim())); } },
        make("label", { for: "asked" }, say("id")), input, make("button", { type: "submit" }, say("look_up"))),
      trail, found),
    make("section", { class: "panel" }, make("h2", {}, say("recent_title")), lately),
    orphaned,
  ];
}
