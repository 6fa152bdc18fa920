// JSON whose integers keep all their digits: those that a number cannot hold become BigInt, and are written as digits again.

const TOKEN = /\s*(?:([{}[\]:,])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))\s*/y;
const CONSTANTS = { true: true, false: false, null: null };

const numberOf = (digits) => {
  const value = Number(digits);
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
};

// Without recursion, since metadata may be nested as deeply as it likes. Objects are maps, so no name means anything.
export function parse(text) {
  const open = [];
  const names = []; // of each open object, the name whose value comes
  let root;
  const put = (value) => {
    const inside = open.at(-1);
    if (inside === undefined) root = value;
    else if (Array.isArray(inside)) inside.push(value);
    else inside.set(names.at(-1), value);
  };
  let place = 0;
  let expectsName = false;
  while (place < text.length) {
    TOKEN.lastIndex = place;
    const found = TOKEN.exec(text);
    if (found === null) throw new SyntaxError(`The answer is no JSON at character ${place}.`);
    place = TOKEN.lastIndex;
    const [, sign, string, digits, constant] = found;
    if (string !== undefined) {
      const value = JSON.parse(string);
      if (expectsName) { names[names.length - 1] = value; expectsName = false; } else put(value);
    } else if (digits !== undefined) put(numberOf(digits));
    else if (constant !== undefined) put(CONSTANTS[constant]);
    else if (sign === "{" || sign === "[") {
      const value = sign === "{" ? new Map() : [];
      put(value);
      open.push(value);
      names.push(null);
      expectsName = sign === "{";
    } else if (sign === "}" || sign === "]") { open.pop(); names.pop(); expectsName = false; }
    else if (sign === ",") expectsName = open.at(-1) instanceof Map;
  }
  if (root === undefined || open.length) throw new SyntaxError("The answer ends before its JSON does.");
  return root;
}

// As JSON text; maps and plain objects are objects. Beyond `depth` levels, an ellipsis: for display only.
export function write(value, depth = Infinity) {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (depth === 0) return "…";
  if (Array.isArray(value)) return `[${value.map((each) => write(each, depth - 1)).join(", ")}]`;
  const rows = value instanceof Map ? [...value] : Object.entries(value);
  return `{${rows.map(([name, each]) => `${JSON.stringify(name)}: ${write(each, depth - 1)}`).join(", ")}}`;
}

// Answers of the service have known names: their outermost levels as plain objects without a prototype; `raw` names stay maps.
export function plain(value, raw = ["metadata"]) {
  if (Array.isArray(value)) return value.map((each) => plain(each, raw));
  if (!(value instanceof Map)) return value;
  const found = Object.create(null);
  for (const [name, each] of value) found[name] = raw.includes(name) ? each : plain(each, raw);
  return found;
}
