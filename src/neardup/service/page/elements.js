// Elements. What comes from elsewhere only ever becomes a text node or a class-free attribute of this list.
import { plainly, languageOf } from "./visible.js";

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

export const make = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
export const draw = (name, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, name), attributes, children);
export const fill = (element, ...children) => { element.replaceChildren(); return filled(element, {}, children); };

// An id: 17 and "17" are two, so strings that look like numbers have quotes.
export const nameOfId = (id) => plainly(typeof id === "string" && /^-?\d+$/.test(id) ? JSON.stringify(id) : id);
export const idElement = (id) => make("bdi", { class: "id" }, nameOfId(id));

// An id of which the middle is left out if it is long: names of files and addresses begin alike.
const LONG = 28;
export const isLong = (id) => nameOfId(id).length > LONG;
export const twoLinesOfId = (id) => make("bdi", isLong(id) ? { class: "id long", title: nameOfId(id) } : { class: "id" }, nameOfId(id));
export function shortIdElement(id) {
  const whole = [...nameOfId(id)];
  const half = LONG / 2;
  const shown = whole.length > LONG ? [...whole.slice(0, half - 1), "…", ...whole.slice(-half)] : whole;
  return make("bdi", { class: "id", title: whole.length > LONG ? whole.join("") : undefined }, shown.join(""));
}

export const textElement = (text, attributes = {}) =>
  make("div", { class: "text", lang: languageOf(text) || undefined, dir: "auto", ...attributes }, plainly(text));

// A share of 0 to 1 as a bar, with a mark at the threshold.
export function bar(share, { threshold = null, label }) {
  const width = (value) => (100 * Math.max(0, Math.min(1, value))).toFixed(2);
  return draw("svg", { class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": label },
    draw("rect", { class: "rail", width: 100, height: 8 }),
    draw("rect", { class: "level", width: width(share), height: 8 }),
    threshold === null || threshold <= 0 ? null
      : draw("line", { class: "threshold", x1: width(threshold), x2: width(threshold), y1: 0, y2: 8 }));
}
