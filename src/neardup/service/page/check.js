// CHECK: whether the store knows a text, and what it is like.
import { bar, fill, idElement, isLong, make } from "./elements.js";
import { documentsOf, keepsTexts, matchList } from "./documents.js";
import { number, say, saying, similarity, threshold } from "./language.js";
import { answering, button, verdictOf } from "./parts.js";
import { ask, ofStore } from "./requests.js";

const state = { text: "", answer: null };

export const forget = () => { state.answer = null; };

function verdict(answer, info) {
  const kind = answer.is_new ? "new" : answer.exact ? "exact" : "near";
  const { duplicate_of: id } = answer;
  const isApart = !answer.is_new && isLong(id); // below the words, which are large
  const words = answer.is_new ? say("verdict_new") : isApart ? say(`verdict_${kind}_alone`) : saying(`verdict_${kind}`, { id: idElement(id) });
  const explained = answer.is_new ? say("new_means", { value: threshold(info.min_similarity) })
    : answer.exact ? say("exact_means")
    : say("near_means", { value: threshold(info.min_similarity), count: number(answer.matches.length) });
  const value = answer.similarity;
  const shown = similarity(value, info.min_similarity);
  return make("section", { class: `verdict ${kind}`, "aria-label": say("verdict") },
    make("div", {}, make("h2", {}, words), isApart ? make("p", { class: "whole-id" }, idElement(id)) : null, make("p", {}, explained)),
    value === null ? null : make("div", { class: "figure" },
      make("strong", {}, shown), make("span", { class: "soft" }, say("similarity"), " · ", say("threshold_is", { value: threshold(info.min_similarity) })),
      bar(value, { threshold: info.min_similarity, label: say("similarity_of", { value: shown }) })));
}

// Kept documents below the threshold, where the store can tell: with a floor.
async function nearest(store, text, info) {
  if (!info.floor || info.floor >= info.min_similarity) return [];
  return (await ask(ofStore(store, "neighbors"), { text, min_similarity: info.floor })).neighbors;
}

async function answered(context) {
  const { store } = context;
  const { text } = state;
  if (!text.trim()) return make("p", { class: "notice", role: "alert" }, say("text_wanted"));
  const [info, answer] = await Promise.all([context.info(), ask(ofStore(store, "check"), { text })]);
  const matches = answer.is_new ? await nearest(store, text, info) : answer.matches;
  const documents = await documentsOf(store, matches.map((each) => each.id));
  state.answer = { text, answer, info, matches, documents };
  return result(context);
}

function result({ store }) {
  const { text, answer, info, matches, documents } = state.answer;
  return [
    verdict(answer, info),
    matches.length === 0 ? null : make("section", { class: "panel" },
      make("h2", {}, answer.is_new ? say("nearest") : say("matches", { count: number(matches.length) })),
      info.similarity === "jaccard" ? make("p", { class: "soft" }, say("jaccard_means")) : null,
      matchList(matches, { store, text, name: { role: say("your_text") }, documents, info }),
      keepsTexts(documents) === false ? make("p", { class: "notice" }, say("no_texts")) : null),
  ];
}

// What the store has, said before anybody asks; of an empty one, how it is filled.
async function beforehand(context) {
  const info = await context.info(true);
  if (info.documents) return make("p", { class: "lead" }, say("check_lead"), " ", say("store_keeps", { count: number(info.documents) }));
  const address = new URL(ofStore(context.store, "check-and-add"), location.href);
  return [
    make("p", { class: "lead" }, say("check_lead")),
    make("div", { class: "notice" }, make("p", {}, say("store_empty")), make("pre", {}, make("code", {},
      `curl ${quoted(address.href)} -H 'Content-Type: application/x-ndjson' --data-binary @documents.jsonl`))),
  ];
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function show(context) {
  const lead = make("div", { class: "beforehand" }, make("p", { class: "lead" }, say("check_lead")));
  beforehand(context).then((found) => fill(lead, found), () => {}); // what is wrong is told when somebody asks
  const place = make("div", { class: "result", id: "answer" });
  const run = () => answering(place, () => answered(context), verdictOf);
  const area = make("textarea", {
    id: "text", rows: 8, value: state.text, spellcheck: "false", dir: "auto", placeholder: say("paste_here"),
    oninput: (event) => { state.text = event.target.value; count.textContent = counted(); },
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); } },
  });
  const counted = () => (state.text ? say("characters", { count: number([...state.text].length) }) : "");
  const count = make("span", { class: "soft" }, counted());
  if (state.answer) place.append(...result(context).filter(Boolean));
  return [
    make("h1", {}, say("check_title")),
    lead,
    make("section", { class: "panel asking" },
      make("label", { for: "text" }, say("your_text")), area,
      make("div", { class: "actions" }, button("check_now", run, { class: "main" }),
        make("span", { class: "soft keys" }, make("kbd", {}, "Ctrl"), make("kbd", {}, "Enter")), count)),
    place,
  ];
}
