// Charts of numbers over time, drawn as SVG for the width that there is.
import { draw, make } from "./elements.js";
import { clock } from "./language.js";

const HEIGHT = 168;
const INSIDE = { top: 12, bottom: 24, left: 52, right: 12 };

// Round steps of an axis from the least to the most.
function ticks(least, most, count = 3) {
  const span = most - least || Math.abs(most) || 1;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const found = [];
  for (let at = Math.floor(least / step) * step; ; at += step) {
    found.push(Number(at.toPrecision(12)));
    if (at >= most - step * 1e-9) return found;
  }
}

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

/* A chart. `lines`: name, points [milliseconds, value or null] and class of each; `format`: a value in words; `fromZero`: whether
   the axis begins at 0; `most`: the end of the axis at least; `empty`: what stands where there are no values. */
export function chart({ title, lines, format, width, fromZero = true, most = 0, empty }) {
  const values = lines.flatMap((line) => line.points.map(([, value]) => value).filter((value) => value !== null));
  const last = lines.map((line) => [line, line.points.findLast(([, value]) => value !== null)]);
  const head = make("figcaption", {}, make("b", {}, title), make("span", { class: "lasts" }, last.map(([line, point]) =>
    make("span", { class: line.class }, line.name ? `${line.name} ` : "", make("strong", {}, point ? format(point[1]) : "–")))));
  if (values.length < 2) return make("figure", { class: "chart" }, head, make("p", { class: "soft empty" }, empty));
  const scale = ticks(fromZero ? 0 : Math.min(...values), Math.max(...values, most));
  const [low, high] = [scale[0], scale.at(-1)];
  const times = lines.flatMap((line) => line.points.map(([at]) => at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const x = (at) => INSIDE.left + ((width - INSIDE.left - INSIDE.right) * (at - from)) / (to - from || 1);
  const y = (value) => HEIGHT - INSIDE.bottom - ((HEIGHT - INSIDE.top - INSIDE.bottom) * (value - low)) / (high - low || 1);
  const label = `${title}: ${last.filter(([, point]) => point).map(([line, point]) => `${line.name} ${format(point[1])}`.trim()).join(", ")}`;
  return make("figure", { class: "chart" }, head,
    draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label },
      scale.map((each) => [
        draw("line", { class: "grid", x1: INSIDE.left, x2: width - INSIDE.right, y1: y(each), y2: y(each) }),
        draw("text", { x: INSIDE.left - 8, y: y(each) + 4, "text-anchor": "end" }, format(each))]),
      draw("text", { x: INSIDE.left, y: HEIGHT - 6 }, clock(from)),
      draw("text", { x: width - INSIDE.right, y: HEIGHT - 6, "text-anchor": "end" }, clock(to)),
      lines.map((line, place) => [
        place === 0 && line.points.every(([, value]) => value !== null)
          ? draw("path", { class: `area ${line.class}`, d: `${path(line.points, x, y)}L${x(to)} ${y(low)}L${x(from)} ${y(low)}Z` }) : null,
        draw("path", { class: `line ${line.class}`, d: path(line.points, x, y) })])));
}
