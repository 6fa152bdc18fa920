// All judgements of a store as files, as `neardup store judgements` writes them: labeled pairs, and the texts that they name.
import { make } from "./elements.js";
import { write } from "./json.js";
import { ask, ofStore } from "./requests.js";

export const PAIRS = "pairs.jsonl";
export const DOCUMENTS = "documents.jsonl";

export async function hasJudgements(store) {
  const { judgements } = await ask(ofStore(store, "judgements"), { limit: 1 });
  return judgements.length > 0;
}

async function* all(store) {
  for (let after = 0; after !== null;) {
    const { judgements, next } = await ask(ofStore(store, "judgements"), { after });
    yield* judgements;
    after = next;
  }
}

// Each text has its own id for a name, unless that is not known, or another text has it already.
class Names {
  #of = new Map();
  #taken = new Set();

  of(side) {
    const key = write([side.digest, side.id]);
    if (!this.#of.has(key)) {
      const own = side.id === null ? null : String(side.id);
      const name = own === null || this.#taken.has(own) ? `text:${side.digest}` : own;
      this.#of.set(key, name);
      this.#taken.add(name);
    }
    return this.#of.get(key);
  }

  isNew(side) { return !this.#of.has(write([side.digest, side.id])); }
}

// The lines of both files; texts only of a store that keeps them.
export async function exported(store, hasTexts) {
  const names = new Names();
  const [pairs, documents] = [[], []];
  for await (const { left, right, same, similarity, kind } of all(store)) {
    const sides = [right, left]; // the right one is kept, so it has an id of its own
    if (hasTexts) {
      if (sides.some((side) => side.text === null)) continue;
      for (const side of sides) if (names.isNew(side)) documents.push({ id: names.of(side), text: side.text });
    }
    const right_id = names.of(right);
    pairs.push({ left_id: names.of(left), right_id, label: same ? 1 : 0, ...(similarity === null ? {} : { similarity }), kind });
  }
  return { pairs, documents };
}

export function download(name, lines) {
  const address = URL.createObjectURL(new Blob(lines.map((each) => `${write(each)}\n`), { type: "application/x-ndjson" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
