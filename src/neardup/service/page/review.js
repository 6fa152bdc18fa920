// REVIEW: pairs near the threshold, one at a time, which a person judges by two keys; labels for `neardup evaluate --pairs`.
import { fill, idElement, make } from "./elements.js";
import { number, say, similarity } from "./language.js";
import { write } from "./json.js";
import { announce, button, problem, showing, sideBySide } from "./parts.js";
import { Problem, ask, ofStore } from "./service.js";

const ASKED = 20;
const COMMAND = "neardup evaluate documents.jsonl --pairs labels.jsonl";
const state = { pairs: [], place: 0, labels: new Map(), done: [], isEnd: false, isLocal: false, isSaved: true };

export const forget = () => Object.assign(state, { pairs: [], place: 0, labels: new Map(), done: [], isEnd: false, isLocal: false, isSaved: true });

// A side without its text: a removed duplicate has a position, and an id if the store knows it.
const sideOf = (side) => Object.fromEntries(["id", "position", "digest"].filter((name) => isThere(side[name])).map((name) => [name, side[name]]));
const isThere = (value) => value !== undefined && value !== null;
const keyOf = (pair) => write([sideOf(pair.left), sideOf(pair.right)]);

// Labels and documents to save. A text is named by its id, or by its position if it has none, or if another text has this id by now.
function exported() {
  const documents = new Map();
  const name = (side) => {
    const text = side.text ?? "";
    const place = `position ${side.position}`;
    const isOther = isThere(side.position) && (documents.get(write(side.id ?? null)) ?? { text }).text !== text;
    const id = isThere(side.id) && !isOther ? side.id : place;
    documents.set(write(id), { id, text });
    return id;
  };
  const judged = [...state.labels.values()];
  for (const { pair } of judged) for (const side of [pair.left, pair.right]) if (!isThere(side.position)) name(side); // kept ones first
  const labels = judged.map(({ pair, same }) =>
    ({ left_id: name(pair.left), right_id: name(pair.right), label: same ? 1 : 0, similarity: pair.similarity }));
  return { labels, documents: [...documents.values()] };
}

async function load(store) {
  const known = new Set(state.pairs.map(keyOf));
  const { pairs } = await ask(ofStore(store, "review"), { limit: ASKED });
  const fresh = pairs.filter((pair) => !known.has(keyOf(pair)));
  state.pairs.push(...fresh);
  state.isEnd = fresh.length === 0;
}

async function record(store, pair, same) {
  if (state.isLocal) return;
  try {
    await ask(ofStore(store, "judge"), { left: sideOf(pair.left), right: sideOf(pair.right), same });
  } catch (found) {
    if (!(found instanceof Problem && found.isMissing)) throw found;
    state.isLocal = true; // an older service: the labels are in this tab alone
  }
}

function download(name, lines) {
  const address = URL.createObjectURL(new Blob(lines.map((each) => `${write(each)}\n`), { type: "application/x-ndjson" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function saveLabels() {
  download("labels.jsonl", exported().labels);
  state.isSaved = true;
}

const saveDocuments = () => download("documents.jsonl", exported().documents);

window.addEventListener("beforeunload", (event) => { if (!state.isSaved && state.isLocal) event.preventDefault(); });

function nameOf(side, kind) {
  return [say(kind), " ", isThere(side.id) ? idElement(side.id) : say("a_duplicate")];
}

export function show(context) {
  const { store } = context;
  const desk = make("section", { class: "panel desk", tabindex: -1, "aria-label": say("review_title"), "aria-keyshortcuts": "s d u Space" });
  const tally = make("section", { class: "panel" });

  const draw = async () => {
    while (state.place < state.pairs.length && state.labels.has(keyOf(state.pairs[state.place]))) state.place += 1;
    if (state.place >= state.pairs.length && !state.isEnd) await load(store);
    const pair = state.pairs[state.place];
    if (!pair) return make("p", { class: "notice" }, say(state.labels.size ? "all_judged" : "nothing_to_judge"));
    const hasTexts = typeof pair.left.text === "string" && typeof pair.right.text === "string";
    const removed = pair.kind === "removed";
    const names = [nameOf(pair.left, removed ? "removed_document" : "kept_document"), nameOf(pair.right, "kept_document")];
    return [
      make("div", { class: "desk-head" },
        make("p", {}, make("strong", { class: "value" }, pair.similarity === null ? "–" : similarity(pair.similarity)), " ",
          make("span", { class: "soft" }, say(removed ? "was_removed" : "was_kept"))),
        make("div", { class: "verdicts" },
          keyButton("same", "S", () => judge(true), "main"), keyButton("different", "D", () => judge(false), "main"),
          keyButton("skip", say("space"), skip), keyButton("undo", "U", undo, "", !state.done.length))),
      hasTexts ? await sideBySide(store, pair.left.text, pair.right.text, names) : make("p", { class: "notice" }, say("no_texts")),
    ];
  };

  const keyButton = (key, sign, action, kind = "", isOff = false) =>
    make("button", { type: "button", class: kind, onclick: action, disabled: isOff, "data-verdict": key }, say(key), make("kbd", {}, sign));

  const counted = () => {
    const same = [...state.labels.values()].filter((each) => each.same).length;
    const all = state.pairs.length;
    const isEmpty = state.labels.size === 0;
    const words = say("tally", { done: number(state.labels.size), all: number(all), same: number(same), different: number(state.labels.size - same) });
    fill(tally,
      make("div", { class: "progress" },
        make("progress", { max: Math.max(1, all), value: state.labels.size, "aria-label": say("progress") }),
        make("p", { id: "tally" }, words)),
      make("h2", {}, say("export_title")), make("p", {}, say("export_means")),
      make("div", { class: "actions" }, button("save_labels", saveLabels, { disabled: isEmpty }), button("save_documents", saveDocuments, { disabled: isEmpty })),
      make("pre", {}, make("code", {}, COMMAND)),
      state.isLocal && !isEmpty ? make("p", { class: "soft" }, say("only_here")) : null);
    announce(words);
  };

  const next = async () => {
    const had = desk.contains(document.activeElement);
    await showing(desk, draw);
    counted();
    if (had || document.activeElement === document.body) desk.focus({ preventScroll: true });
  };
  const judge = async (same) => {
    const pair = state.pairs[state.place];
    if (!pair || desk.hasAttribute("aria-busy")) return;
    try {
      await record(store, pair, same);
    } catch (found) {
      desk.append(problem(found));
      return;
    }
    state.labels.set(keyOf(pair), { pair, same });
    state.done.push(state.place);
    state.isSaved = false;
    state.place += 1;
    await next();
  };
  const skip = async () => {
    if (!state.pairs[state.place] || desk.hasAttribute("aria-busy")) return;
    state.place += 1;
    await next();
  };
  const undo = async () => {
    const place = state.done.pop();
    if (place === undefined) return;
    state.labels.delete(keyOf(state.pairs[place]));
    state.place = place;
    await next();
  };
  const keys = { s: () => judge(true), d: () => judge(false), u: undo, " ": skip };
  desk.addEventListener("keydown", (event) => {
    const action = keys[event.key.toLowerCase()];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === " " && event.target.closest("button, summary, .sides")) return; // the space key is theirs
    event.preventDefault();
    action();
  });

  const begin = async () => {
    try {
      return await draw();
    } catch (found) {
      if (found instanceof Problem && found.isMissing) return make("p", { class: "notice" }, say("no_review"));
      throw found;
    }
  };
  showing(desk, begin).then(() => { counted(); if (desk.isConnected) desk.focus({ preventScroll: true }); });
  return [make("h1", {}, say("review_title")), make("p", { class: "lead" }, say("review_lead")), desk, tally];
}
