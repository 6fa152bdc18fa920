// The language of the page: chosen by the browser, and by the user. Strings are in strings.js.
import { keepSetting, setting } from "./settings.js";
import { STRINGS } from "./strings.js";

export const LANGUAGES = { en: "English", zh: "中文", ja: "日本語" };
const KEY = "language";
const firstOf = (given) => given.map((each) => each.slice(0, 2).toLowerCase()).find((each) => Object.hasOwn(LANGUAGES, each)) ?? "en";
let language = firstOf([setting(KEY), ...navigator.languages]);

export const languageNow = () => language;
export function setLanguage(given) {
  language = given;
  keepSetting(KEY, given);
}

// A string; with values that are elements, `saying` gives its pieces. In English, {s} is the ending of a noun after {count}.
export const say = (key, values = {}) => saying(key, values).join("");
export function saying(key, values = {}) {
  const all = { s: values.count === "1" ? "" : "s", ...values };
  const pieces = STRINGS[key][language].split(/\{(\w+)\}/);
  return pieces.map((each, place) => (place % 2 ? all[each] : each)).filter((each) => each !== "");
}

const made = new Map();
function format(kind, options) {
  const key = language + JSON.stringify(options);
  if (!made.has(key)) made.set(key, new kind(language, options));
  return made.get(key);
}
export const number = (value, digits = 0) =>
  format(Intl.NumberFormat, { maximumFractionDigits: digits }).format(value);
export const compact = (value) =>
  format(Intl.NumberFormat, { notation: "compact", maximumFractionDigits: 1 }).format(value);
export const share = (value, more = false) => format(Intl.NumberFormat, { style: "percent", maximumFractionDigits: more ? 2 : 1 }).format(value);

// A similarity as everywhere: the function `similarity_text` of display.py, which says why.
const [DIGITS, MOST_DIGITS] = [4, 17];
export function similarity(value, threshold = 0) {
  if (value === null) return "–";
  const sides = (given) => [given > 0, given >= 1, given >= threshold].join();
  for (let digits = DIGITS; digits <= MOST_DIGITS; digits += 1) {
    const shown = value.toFixed(digits);
    if (sides(Number(shown)) === sides(value)) return shown;
  }
  return String(value);
}
// The least similarity of a match, as it was given.
export const threshold = (value) => String(value);

export function moment(seconds) {
  const date = new Date(1000 * Number(seconds));
  if (Number.isNaN(date.getTime())) return String(seconds); // beyond the years that dates have
  return format(Intl.DateTimeFormat, { dateStyle: "medium", timeStyle: "medium" }).format(date);
}
export const clock = (milliseconds) =>
  format(Intl.DateTimeFormat, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }).format(milliseconds);
