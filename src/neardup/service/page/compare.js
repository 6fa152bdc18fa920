// COMPARE: two texts, step by step: what they have in common, tokens, features with weights, votes, bits, and what their sets have in common.
import { bar, fill, make, textElement } from "./elements.js";
import { bitGrid, bitsOf, differing, differTable, sumChart } from "./fingerprints.js";
import { languageNow, number, say, similarity } from "./language.js";
import { answering, button, sideBySide, verdictOf } from "./parts.js";
import { ask, ofStore } from "./requests.js";
import { EXAMPLES } from "./strings.js";
import { plainly } from "./visible.js";

const FEW = 8; // features that are shown at first
const FEW_TOKENS = 120;
const SIDES = ["left", "right"];
const state = { left: "", right: "", found: null };

export const forget = () => { state.found = null; };
export const begin = (left, right) => { Object.assign(state, { left, right, found: null }); };

const step = (key, ...shown) =>
  make("li", { class: "panel step" }, make("h2", {}, say(`step_${key}`)), make("p", { class: "soft" }, say(`step_${key}_means`)), shown);
const columns = (made) => make("div", { class: "two" }, SIDES.map((side) => make("div", { class: side }, make("h3", {}, say(`${side}_text`)), made(side))));

// The first of a list, and a button that shows the rest of it.
function shortened(values, few, made) {
  const place = made(values.slice(0, few));
  if (values.length <= few) return place;
  const more = button("show_all", () => { fill(place, ...made(values).childNodes); more.remove(); }, { class: "quiet more" });
  more.append(` (${number(values.length)})`);
  return [place, more];
}

function headline(found) {
  const bits = number(bitsOf(found.left.fingerprint, found.left.sums.length).length);
  return make("section", { class: "verdict", "aria-label": say("verdict") },
    make("div", {}, make("h2", {}, say("alike", { value: similarity(found.similarity) })),
      make("p", {}, say("alike_means", { common: number(found.common_shingles), all: number(found.all_shingles) })),
      make("p", { class: "soft" }, say("distance_of", { count: number(found.distance), bits }))),
    make("div", { class: "figure" }, make("span", { class: "fraction" },
      make("b", {}, number(found.common_shingles)), make("b", {}, number(found.all_shingles))),
      bar(found.similarity, { label: say("similarity_of", { value: similarity(found.similarity) }) })));
}

function tokens(found) {
  const known = { left: new Set(found.right.tokens), right: new Set(found.left.tokens) };
  return columns((side) => shortened(found[side].tokens, FEW_TOKENS, (some) =>
    make("p", { class: "tokens" }, some.map((each) => [make(known[side].has(each) ? "span" : "mark", { class: "token" }, plainly(each)), " "]))));
}

function features(found) {
  const names = { left: new Set(found.right.features.map((each) => each.name)), right: new Set(found.left.features.map((each) => each.name)) };
  const heaviest = Math.max(...SIDES.flatMap((side) => found[side].features.map((each) => Number(each.weight))), 1e-9);
  const weight = (text) => number(Number(text), 3);
  const row = (side) => (each) => make("tr", { class: names[side].has(each.name) ? undefined : "only" },
    make("th", { scope: "row" }, make(names[side].has(each.name) ? "bdi" : "mark", {}, plainly(each.name))),
    make("td", { class: "n" }, number(each.count)),
    make("td", { class: "n weight" }, make("span", {}, bar(Number(each.weight) / heaviest, { label: say("weight_of", { value: weight(each.weight) }) }), make("span", {}, weight(each.weight)))));
  return columns((side) => {
    const isShared = (each) => names[side].has(each.name);
    const sorted = [...found[side].features].sort((a, b) => isShared(a) - isShared(b)); // else heaviest first, as they come
    const body = shortened(sorted, FEW, (some) => make("tbody", {}, some.map(row(side))));
    const [rows, more] = Array.isArray(body) ? body : [body, null];
    return [make("table", { class: "features" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say("feature")), make("th", { scope: "col", class: "n" }, say("count")), make("th", { scope: "col", class: "n" }, say("weight")))),
      rows), more];
  });
}

function votes(found, bits, differ) {
  const most = Math.max(1e-9, ...SIDES.flatMap((side) => found[side].sums.map((each) => Math.abs(Number(each))))); // of both: the same scale
  return [
    columns((side) => [
      sumChart(found[side].sums, differ, most, say("sums_label", { side: say(`${side}_text`), count: number(differ.length) })),
      bitGrid(bits[side], differ, say("bits_label", { side: say(`${side}_text`), bits: number(bits[side].length), count: number(differ.length) })),
      make("p", { class: "digits" }, make("code", {}, found[side].fingerprint)),
    ]),
    make("p", { class: "key soft" }, make("i", { class: "swatch one" }), say("bit_one"), make("i", { class: "swatch zero" }), say("bit_zero"), make("i", { class: "swatch differs" }), say("bit_differs")),
    differTable(found.left.sums, found.right.sums, differ),
  ];
}

function sets(found) {
  const only = { left: new Set(), right: new Set() };
  const rows = Object.entries(found.similarities ?? {});
  return [
    make("p", { class: "formula" }, make("span", { class: "fraction" }, make("b", {}, number(found.common_shingles)), make("b", {}, number(found.all_shingles))),
      " = ", make("strong", {}, similarity(found.similarity))),
    make("table", { class: "similarities" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say("measure")), make("th", { scope: "col" }, say("value")))),
      make("tbody", {}, [...rows, ["estimated cosine", found.estimated_cosine]].map(([name, value]) => make("tr", {},
        make("th", { scope: "row" }, say(`measure_${name.replace(" ", "_")}`)),
        make("td", {}, make("span", { class: "measured" }, similarity(value), bar(value, { label: similarity(value) }))))))),
  ];
}

async function compared({ store }) {
  const { left, right } = state;
  if (!left.trim() || !right.trim()) return make("p", { class: "notice", role: "alert" }, say("two_wanted"));
  const names = SIDES.map((side) => ({ role: say(`${side}_text`) }));
  const [found, beside] = await Promise.all([
    ask(ofStore(store, "compare"), { left, right }), sideBySide(store, left, right, names)]);
  state.found = true;
  const bits = Object.fromEntries(SIDES.map((side) => [side, bitsOf(found[side].fingerprint, found[side].sums.length)]));
  const differ = differing(bits.left, bits.right);
  return [headline(found), make("ol", { class: "steps" },
    step("passages", beside), found.left.tokens.length + found.right.tokens.length ? step("tokens", tokens(found)) : null,
    step("features", features(found)), step("votes", votes(found, bits, differ)), step("sets", sets(found)))];
}

export function show(context) {
  const place = make("div", { class: "result", id: "compared" });
  const run = () => answering(place, () => compared(context), verdictOf);
  const areas = SIDES.map((side) => make("textarea", {
    id: side, rows: 5, value: state[side], spellcheck: "false", dir: "auto",
    oninput: (event) => { state[side] = event.target.value; },
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); } },
  }));
  const example = () => {
    EXAMPLES[languageNow()].forEach((text, place_) => { areas[place_].value = text; state[SIDES[place_]] = text; });
    run();
  };
  if (state.found) run();
  return [
    make("h1", {}, say("compare_title")), make("p", { class: "lead" }, say("compare_lead")),
    make("section", { class: "panel asking" },
      make("div", { class: "two" }, SIDES.map((side, place_) => make("div", {}, make("label", { for: side }, say(`${side}_text`)), areas[place_]))),
      make("div", { class: "actions" }, button("compare_now", run, { class: "main" }), button("take_example", example))),
    place,
  ];
}
