// Parts that several views have: problems in the words of the service, states of waiting, and two texts side by side.
import { fill, isLong, make, shortIdElement, twoLinesOfId } from "./elements.js";
import { number, say } from "./language.js";
import { Problem, ask, ofStore } from "./requests.js";
import { languageOf, plainly } from "./visible.js";

const SIDE = 20000; // characters that the service compares side by side

// Tell those who do not see the page what came of an action.
export function announce(words) { document.getElementById("said").textContent = words; }

export const waiting = () => make("p", { class: "waiting" }, say("waiting"));

export function problem(found) {
  if (!(found instanceof Problem)) {
    console.error(found);
    return make("div", { class: "notice problem", role: "alert" }, make("p", {}, say("page_failed"), " ", plainly(found)));
  }
  const words = found.status ? found.message : say(found.code); // nothing came, or nothing that can be read
  return make("div", { class: "notice problem", role: "alert" },
    make("p", {}, found.status ? [make("strong", {}, say("refused")), " "] : null, plainly(words)),
    found.status ? make("p", { class: "soft" }, `${found.status} ${plainly(found.code)}`) : null);
}

// Run an action, and show in a place that it goes on, then what it gives, or what the service says.
const begun = new WeakMap();
export async function showing(place, action) {
  const turn = {};
  begun.set(place, turn);
  fill(place, waiting());
  place.setAttribute("aria-busy", "true");
  let shown;
  try {
    shown = await action();
  } catch (found) {
    shown = problem(found);
  }
  if (begun.get(place) !== turn) return; // a later action has taken the place
  place.removeAttribute("aria-busy");
  fill(place, shown);
}

// The same for what a person has asked for: those who do not see the page are told what came of it.
export async function answering(place, action, words) {
  announce(say("waiting"));
  await showing(place, action);
  announce(words(place));
}

export const verdictOf = (place) => place.querySelector(".verdict")?.innerText.replace(/\s*\n\s*/g, ". ") ?? "";

export const button = (key, action, attributes = {}) => make("button", { type: "button", onclick: action, ...attributes }, say(key));

export const told = (...rows) =>
  make("dl", { class: "facts" }, rows.filter(Boolean).map(([name, value, isWide = false]) =>
    make("div", { class: isWide ? "wide" : undefined }, make("dt", {}, name), make("dd", {}, value))));

const isCut = (text) => text.length > SIDE && [...text].length > SIDE;
const beginning = (text) => (isCut(text) ? [...text].slice(0, SIDE).join("") : text);

function segment({ kind, text, characters }, marksCommon) {
  if (kind === "cut") return make("em", { class: "left-out" }, say("not_shown", { count: number(characters) }));
  if (kind === "only") return make(marksCommon ? "span" : "mark", {}, plainly(text));
  return make("span", { class: marksCommon ? "common" : undefined }, plainly(text));
}

// Whether less than half is common: then that is marked, else the differences. A page full of marks shows nothing.
function hasLittleInCommon(rows) {
  const sum = { common: 0, only: 0, cut: 0 };
  for (const row of rows) {
    sum.common += 2 * row.skipped;
    for (const each of [...row.left, ...row.right]) sum[each.kind] += each.characters;
  }
  return sum.common < sum.only;
}

// What a text is, above it: its part, and its id, or what stands for that.
const titleOf = ({ role, id = null, otherwise = "" }, side) => make("h3", { class: side },
  make("span", { class: "role" }, role), id === null ? otherwise && [" ", otherwise] : [" ", twoLinesOfId(id)]);
const roleOf = ({ role, id = null }) => make("p", { class: "whose" }, role, id === null ? null : [" ", shortIdElement(id)]);

// A part of a text. On narrow screens and in screen readers parts come one after another, so each says whose it is.
// After a gap, the space that parts a text from its beginning is not shown.
function partOf(row, side, { text, name, marksCommon }, isAfterGap) {
  const segments = row[side].map((each, place) => (isAfterGap && place === 0 ? { ...each, text: each.text.trimStart() } : each));
  return make("div", { class: `part ${side}${segments.length ? "" : " none"}` }, segments.length ? roleOf(name) : null,
    make("div", { class: "text", lang: languageOf(text) || undefined, dir: "auto" }, segments.map((each) => segment(each, marksCommon))));
}

// Two texts side by side; `names`: of each, its `role`, and its `id`, or `otherwise` in place of that.
export async function sideBySide(store, left, right, names) {
  const found = await ask(ofStore(store, "passages"), { left: beginning(left), right: beginning(right) });
  const marksCommon = hasLittleInCommon(found.rows);
  const sides = { left: { text: left, name: names[0], marksCommon }, right: { text: right, name: names[1], marksCommon } };
  const rows = found.rows.map((row, place) => {
    if (row.skipped) return make("p", { class: "skipped" }, say("skipped", { count: number(row.skipped) }));
    return Object.keys(sides).map((side) => partOf(row, side, sides[side], place > 0 && found.rows[place - 1].skipped > 0));
  });
  return make("div", { class: "beside" },
    make("div", { class: names.some(({ id = null }) => id !== null && isLong(id)) ? "sides long" : "sides", role: "group", "aria-label": say("side_by_side"), tabindex: 0 },
      titleOf(names[0], "left"), titleOf(names[1], "right"), rows),
    make("p", { class: "key soft" }, marksCommon ? make("span", { class: "common" }, say("both_key")) : make("mark", {}, say("only_one_key")),
      isCut(left) || isCut(right) ? [" · ", say("beginning_only", { count: number(SIDE) })] : null));
}

// Metadata: an object as names and values, anything else as JSON.
export function metadata(value, written) {
  if (value === null || value === undefined) return null;
  const shown = (each) => plainly(typeof each === "string" ? each : written(each, 6));
  if (!(value instanceof Map)) return make("span", { class: "metadata" }, shown(value));
  return make("span", { class: "metadata" }, [...value].map(([name, each]) =>
    make("span", { class: "pair" }, make("b", {}, plainly(name)), " ", make("bdi", {}, shown(each)))));
}
