// Charts of numbers over time, drawn as SVG for the width that there is.
import { draw, make } from "./elements.js";
import { clock } from "./language.js";

const HEIGHT = 168;
const INSIDE = { top: 12, bottom: 24, right: 1 };
const [NARROW, WIDE] = [6.9, 12]; // of a digit and of a Han character, which is in some units
const ROOM = 16; // beside the numbers of an axis

/* Round steps of an axis that has all values, two at least. It begins at 0, unless it `fits` values that vary so little beside
   their size that nothing would be seen: then it has their range. `isWhole`: there is nothing between 1 and 2. */
export function ticks(values, { most = 0, fits = false, isWhole = false, count = 3 }) {
  const [lowest, highest] = [Math.min(...values), Math.max(...values, most)];
  const least = fits && lowest < highest && 4 * (highest - lowest) < highest ? lowest : 0;
  const rough = (highest - least || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const step = isWhole ? Math.max(1, Math.ceil(round)) : round;
  const first = Math.floor(least / step + 1e-9);
  const found = [];
  for (let at = first; at <= first + 1 || found.at(-1) < highest - step * 1e-9; at += 1) found.push(Number((at * step).toPrecision(12)));
  return found;
}

// Numbers of an axis: in few digits, or with more where several would be the same.
function labelsOf(scale, format) {
  const short = scale.map((each) => format(each));
  return new Set(short).size === short.length ? short : scale.map((each) => format(each, true));
}
const widthOf = (text) => [...text].reduce((sum, each) => sum + (each > "\u2e80" ? WIDE : NARROW), 0);

// The path of values over time; where there is none, the line breaks.
function path(points, x, y) {
  let pen = "M";
  return points.map(([at, value]) => {
    if (value === null) { pen = "M"; return ""; }
    const found = `${pen}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
    return found;
  }).join("");
}

/* A chart. `lines`: name, points [milliseconds, value or null] and class of each; `format`: a value in words, its second argument
   asks for more digits; `axis`: what `ticks` takes; `empty`: what stands where there are no values. */
export function chart({ title, lines, format, width, axis = {}, empty }) {
  const values = lines.flatMap((line) => line.points.map(([, value]) => value).filter((value) => value !== null));
  const last = lines.map((line) => [line, line.points.findLast(([, value]) => value !== null)]);
  const head = make("figcaption", {}, make("b", {}, title), make("span", { class: "lasts" }, last.map(([line, point]) =>
    make("span", { class: line.class }, line.name ? `${line.name} ` : "", make("strong", {}, point ? format(point[1]) : "–")))));
  if (values.length < 2) return make("figure", { class: "chart" }, head, make("p", { class: "soft empty" }, empty));
  const scale = ticks(values, axis);
  const labels = labelsOf(scale, format);
  const left = ROOM + Math.max(...labels.map(widthOf));
  const [low, high] = [scale[0], scale.at(-1)];
  const times = lines.flatMap((line) => line.points.map(([at]) => at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const x = (at) => left + ((width - left - INSIDE.right) * (at - from)) / (to - from || 1);
  const y = (value) => HEIGHT - INSIDE.bottom - ((HEIGHT - INSIDE.top - INSIDE.bottom) * (value - low)) / (high - low);
  const label = `${title}: ${last.filter(([, point]) => point).map(([line, point]) => `${line.name} ${format(point[1])}`.trim()).join(", ")}`;
  const isFilled = (line, place) => low === 0 && place === 0 && line.points.every(([, value]) => value !== null);
  return make("figure", { class: "chart" }, head,
    draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label },
      scale.map((each, place) => [
        draw("line", { class: "grid", x1: left, x2: width - INSIDE.right, y1: y(each), y2: y(each) }),
        draw("text", { x: left - 8, y: y(each) + 4, "text-anchor": "end" }, labels[place])]),
      draw("text", { x: left, y: HEIGHT - 6 }, clock(from)),
      draw("text", { x: width - INSIDE.right, y: HEIGHT - 6, "text-anchor": "end" }, clock(to)),
      lines.map((line, place) => [
        isFilled(line, place) ? draw("path", { class: `area ${line.class}`, d: `${path(line.points, x, y)}L${x(to)} ${y(low)}L${x(from)} ${y(low)}Z` }) : null,
        draw("path", { class: `line ${line.class}`, d: path(line.points, x, y) })])));
}
