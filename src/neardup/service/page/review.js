// REVIEW: pairs near the threshold, one at a time, which a person judges by two keys; all judgements as files for `neardup evaluate`.
import { fill, make } from "./elements.js";
import { DOCUMENTS, PAIRS, download, exported, hasJudgements } from "./judgements.js";
import { write } from "./json.js";
import { number, say, similarity, threshold } from "./language.js";
import { announce, button, problem, showing, sideBySide } from "./parts.js";
import { ask, ofStore } from "./requests.js";
import { hasKeys, setKeys } from "./settings.js";

const [ASKED, MOST] = [20, 200]; // pairs in a question
const COMMAND = `neardup evaluate ${DOCUMENTS} \\\n    --pairs ${PAIRS}`;
const KEYS = { same: "s", different: "d", skip: " ", back: "b" };
const SIGNS = { same: "=", different: "≠" };
const fresh = () => ({ pairs: [], place: 0, verdicts: new Map(), isEnd: false, hasAny: false, files: null });
const state = fresh();

export const forget = () => Object.assign(state, fresh());

const isThere = (value) => value !== undefined && value !== null;
const sideOf = (side) => Object.fromEntries(["id", "position", "digest"].filter((name) => isThere(side[name])).map((name) => [name, side[name]]));
const keyOf = (pair) => write([sideOf(pair.left), sideOf(pair.right)]);

// More pairs. Those that were skipped are listed again, so they are asked for besides.
async function load(store) {
  const known = new Set(state.pairs.map(keyOf));
  const skipped = known.size - state.verdicts.size;
  const { pairs } = await ask(ofStore(store, "review"), { limit: Math.min(MOST, ASKED + skipped) });
  const unseen = pairs.filter((pair) => !known.has(keyOf(pair)));
  state.pairs.push(...unseen);
  state.isEnd = unseen.length === 0;
}

const nameOf = (side, kind) => ({ role: say(kind), id: isThere(side.id) ? side.id : null, otherwise: say("a_duplicate") });

function head(pair, info, buttons) {
  const value = pair.similarity === null ? say("bits_differ", { count: number(pair.distance) }) : similarity(pair.similarity, info.min_similarity);
  return make("div", { class: "desk-head" },
    make("h2", {}, make("strong", { class: "value" }, value), " ",
      make("span", { class: "soft" }, say(pair.kind === "removed" ? "was_removed" : "was_kept"),
        pair.similarity === null ? null : [" · ", say("threshold_is", { value: threshold(info.min_similarity) })])),
    make("div", { class: "verdicts" }, buttons));
}

// What is known of the work, and all judgements as files. Both are of one reading, so that one names what the other has.
function tally(store, info, trying) {
  const words = tallied();
  const save = (key, name, lines) => button(key, () => trying(async () => {
    state.files ??= exported(store, info.texts);
    state.files.catch(() => { state.files = null; });
    download(name, (await state.files)[lines]);
  }), { disabled: !state.hasAny || (lines === "documents" && !info.texts) });
  return [
    make("p", { id: "tally" }, words),
    make("h2", {}, say("export_title")), make("p", {}, say("export_means")),
    make("div", { class: "actions" }, save("save_pairs", PAIRS, "pairs"), save("save_documents", DOCUMENTS, "documents")),
    make("pre", {}, make("code", {}, COMMAND)),
  ];
}

function tallied() {
  const same = [...state.verdicts.values()].filter(Boolean).length;
  const done = state.verdicts.size;
  if (!done) return say("none_judged");
  return say("tally", { done: number(done), same: number(same), different: number(done - same) });
}

export function show(context) {
  const { store } = context;
  state.files = null;
  const desk = make("div", { class: "desk", tabindex: -1, role: "group", "aria-label": say("review_title") });
  const summary = make("section", { class: "panel" });
  const now = () => state.pairs[state.place];
  const isBusy = () => desk.hasAttribute("aria-busy");
  let info;

  const keyButton = (key, kind = "", attributes = {}) =>
    make("button", { type: "button", class: kind, onclick: actions[key], "data-verdict": key, ...attributes },
      SIGNS[key] ? make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[key]) : null, say(key),
      make("kbd", { "aria-hidden": "true" }, key === "skip" ? say("space") : KEYS[key].toUpperCase()));

  const draw = async () => {
    info = await context.info();
    if (state.place >= state.pairs.length && !state.isEnd) await load(store);
    const pair = now();
    if (!pair) return [make("p", { class: "notice" }, say(state.place ? "all_judged" : "nothing_to_judge")), state.place ? make("div", { class: "verdicts alone" }, keyButton("back")) : null];
    const verdict = state.verdicts.get(keyOf(pair));
    const pressed = (same) => ({ "aria-pressed": verdict === undefined ? undefined : String(verdict === same) });
    const sides = pair.kind === "removed" ? [pair.right, pair.left] : [pair.left, pair.right]; // kept ones are on the left, as everywhere
    const names = sides.map((side, at) => nameOf(side, at && pair.kind === "removed" ? "removed_document" : "kept_document"));
    const hasTexts = sides.every((side) => typeof side.text === "string");
    return [
      head(pair, info, [keyButton("same", "main", pressed(true)), keyButton("different", "other", pressed(false)), keyButton("skip"), keyButton("back", "", { disabled: !state.place })]),
      hasTexts ? await sideBySide(store, ...sides.map((side) => side.text), names) : make("p", { class: "notice" }, say("no_texts")),
    ];
  };
  const count = () => fill(summary, tally(store, info, trying));
  const trying = async (action) => {
    summary.querySelector(".problem")?.remove();
    try { await action(); } catch (found) { summary.append(problem(found)); }
  };
  const next = async () => {
    const had = desk.contains(document.activeElement);
    await showing(desk, draw);
    if (info) { count(); announce(tallied()); }
    if (had || document.activeElement === document.body) desk.focus({ preventScroll: true });
  };
  const judge = async (same) => {
    const pair = now();
    if (!pair || isBusy()) return;
    desk.setAttribute("aria-busy", "true"); // what is pressed meanwhile is not meant for the next pair
    try {
      await ask(ofStore(store, "judge"), { left: sideOf(pair.left), right: sideOf(pair.right), same });
    } catch (found) {
      desk.removeAttribute("aria-busy");
      desk.append(problem(found));
      return;
    }
    state.verdicts.set(keyOf(pair), same);
    Object.assign(state, { hasAny: true, files: null });
    state.place += 1;
    await next();
  };
  const go = async (step) => {
    if (isBusy() || (step > 0 ? !now() : !state.place)) return;
    state.place += step;
    await next();
  };
  const actions = { same: () => judge(true), different: () => judge(false), skip: () => go(1), back: () => go(-1) };
  desk.addEventListener("keydown", (event) => {
    const name = Object.keys(KEYS).find((each) => KEYS[each] === event.key.toLowerCase());
    if (!name || !hasKeys() || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === " " && event.target !== desk) return; // the space key is that of what has the focus
    event.preventDefault();
    actions[name]();
  });

  const panel = make("section", { class: "panel desk-panel", "aria-label": say("review_title") }, desk);
  panel.append(keysChoice((isOn) => {
    panel.classList.toggle("no-keys", !isOn);
    if (isOn) desk.setAttribute("aria-keyshortcuts", "s d Space b");
    else desk.removeAttribute("aria-keyshortcuts");
  }));
  showing(desk, async () => {
    const [shown, hasAny] = await Promise.all([draw(), hasJudgements(store)]);
    state.hasAny ||= hasAny;
    return shown;
  }).then(() => { if (info) count(); if (desk.isConnected) desk.focus({ preventScroll: true }); });
  return [make("h1", {}, say("review_title")), make("p", { class: "lead" }, say("review_lead")), panel, summary];
}

// The keys can be switched off: who speaks to a computer does not want the letters of words to judge.
function keysChoice(isTold) {
  const input = make("input", { type: "checkbox", id: "keys", checked: hasKeys(), onchange: () => { setKeys(input.checked); isTold(input.checked); } });
  isTold(hasKeys());
  return make("p", { class: "keys-choice soft" }, input, make("label", { for: "keys" }, say("keys")), make("span", {}, say("keys_means")));
}
