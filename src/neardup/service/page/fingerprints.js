// Fingerprints as pictures: a grid of bits, and the sum of the votes that decides each of them.
import { draw, make } from "./elements.js";
import { number, say } from "./language.js";

const COLUMNS = 32;

// The bits of hexadecimal digits, most significant first.
export function bitsOf(digits, width) {
  const bits = [...digits].map((each) => Number.parseInt(each, 16).toString(2).padStart(4, "0")).join("");
  return bits.slice(bits.length - width);
}

export const differing = (left, right) => [...left].map((bit, place) => (bit === right[place] ? -1 : place)).filter((place) => place >= 0);

// A square for each bit, full for 1; those that differ from the other fingerprint are marked.
export function bitGrid(bits, differ, label) {
  const marked = new Set(differ);
  const columns = Math.min(COLUMNS, bits.length);
  const squares = [...bits].map((bit, place) => {
    const x = 10 * (place % columns);
    const y = 10 * Math.floor(place / columns);
    return draw("rect", { x: x + 1, y: y + 1, width: 8, height: 8, rx: 1.5, class: `bit b${bit}${marked.has(place) ? " differs" : ""}` });
  });
  return draw("svg", { class: "bits", viewBox: `0 0 ${10 * columns} ${10 * Math.ceil(bits.length / columns)}`, role: "img", "aria-label": label }, squares);
}

// A bar for each bit, `most` being the highest: above the line, the bit is 1. The bits that differ are those whose sums are close to the line.
export function sumChart(sums, differ, most, label) {
  const values = sums.map(Number);
  const marked = new Set(differ);
  const step = 640 / values.length;
  const bars = values.map((value, place) => {
    const height = Math.max(0.8, (44 * Math.abs(value)) / most);
    return draw("rect", {
      x: (place * step + step * 0.12).toFixed(2), width: (step * 0.76).toFixed(2),
      y: (value > 0 ? 50 - height : 50).toFixed(2), height: height.toFixed(2), class: `sum${marked.has(place) ? " differs" : ""}`,
    });
  });
  return draw("svg", { class: "sums", viewBox: "0 0 640 100", preserveAspectRatio: "none", role: "img", "aria-label": label },
    bars, draw("line", { x1: 0, x2: 640, y1: 50, y2: 50, class: "axis" }));
}

// What the pictures show, as a table: the bits that differ, and both sums.
export function differTable(left, right, differ) {
  return make("details", {},
    make("summary", {}, say("bits_that_differ", { count: number(differ.length) })),
    make("div", { class: "scrolls", tabindex: 0, role: "group", "aria-label": say("bits_that_differ", { count: number(differ.length) }) },
      make("table", {},
        make("thead", {}, make("tr", {}, ["bit", "left_sum", "right_sum"].map((key) => make("th", { scope: "col", class: "n" }, say(key))))),
        make("tbody", {}, differ.map((place) => make("tr", {},
          make("th", { scope: "row", class: "n" }, number(place)), make("td", { class: "n" }, left[place]), make("td", { class: "n" }, right[place])))))));
}
