// NUMBERS: what an operator wants to see in five seconds, and how it went since the page was opened.
import { chart } from "./charts.js";
import { fill, make } from "./elements.js";
import { compact, languageNow, number, say, share, threshold } from "./language.js";
import { write } from "./json.js";
import { problem, showing, told } from "./parts.js";
import { duplicatesShare, failure, listen, quantile, samples, seconds, windows } from "./series.js";
import { plainly } from "./visible.js";

// Numbers of charts; `more`: with another digit.
const short = (value, most, more) => number(value, (value < most ? 1 : 0) + (more ? 1 : 0));
const milliseconds = (value, more = false) => `${short(value * 1000, 10, more)} ms`;
const rateOf = (value, more = false) => short(value, 10, more);
const countOf = (value, more = false) => (more || value < 100000 ? number(value) : compact(value));
const mebibytes = (value) => `${number(value / 2 ** 20, value < 10 * 2 ** 20 ? 1 : 0)} MiB`; // as the command line has them
const AGAIN = 60000; // milliseconds
export const forget = () => {};

const tile = (name, value, more = "", kind = "") =>
  make("div", { class: `tile ${kind}` }, make("dt", {}, name), make("dd", {}, make("strong", {}, value), make("span", {}, more)));

function tiles(store) {
  const sample = samples.at(-1);
  const of = sample.stores.get(store);
  const window_ = windows().at(-1);
  const decided = of.new + of.update + of.duplicate;
  const slow = window_ ? quantile(...window_, 0.99) : null;
  const rate = window_ ? (window_[1].requests - window_[0].requests) / seconds(window_) : 0;
  const wrong = window_ ? window_[1].failed - window_[0].failed : 0;
  const refused = window_ ? window_[1].refused - window_[0].refused : 0;
  return make("dl", { class: "tiles" },
    tile(say("state"), say(of.ready ? "state_ready" : "state_down"), of.waiting ? say("documents_wait", { count: number(of.waiting) }) : say("nothing_waits"), of.ready ? "good" : "bad"),
    tile(say("documents"), number(of.documents), say("kept_now")),
    tile(say("duplicates"), decided ? share(of.duplicate / decided) : "–", say("of_decided", { count: number(decided) })),
    tile(say("requests_a_second"), rateOf(rate), say("last_minute")),
    tile(say("slowest_percent"), slow === null ? "–" : milliseconds(slow), say("last_minute")),
    tile(say("failed"), number(wrong), say("refused_count", { count: number(refused) }), wrong ? "bad" : ""));
}

function charts(store, width) {
  const found = windows();
  const at = (window_) => window_[1].at;
  const of = (name, points, kind = "first") => ({ name, points, class: kind });
  const own = { width, empty: say("no_values_yet") };
  return make("div", { class: "charts" },
    chart({ ...own, title: say("documents"), format: countOf, axis: { fits: true, isWhole: true },
      lines: [of("", samples.filter((each) => each.stores.has(store)).map((each) => [each.at, each.stores.get(store).documents]))] }),
    chart({ ...own, title: say("duplicates_share"), format: share, axis: { most: 0.1 },
      lines: [of("", found.map((each) => [at(each), duplicatesShare(each, store)]))] }),
    chart({ ...own, title: say("requests_a_second"), format: rateOf, axis: { most: 1 },
      lines: [of("", found.map((each) => [at(each), (each[1].requests - each[0].requests) / seconds(each)]))] }),
    chart({ ...own, title: say("latency"), format: milliseconds,
      lines: [of("p50", found.map((each) => [at(each), quantile(...each, 0.5)])), of("p99", found.map((each) => [at(each), quantile(...each, 0.99)]), "second")] }));
}

async function facts(context) {
  const info = await context.info(true);
  const size = Object.values(info.bytes).reduce((sum, each) => sum + Number(each), 0);
  const recipe = Object.entries(info.recipe).map(([name, value]) => `${name} ${typeof value === "string" ? value : write(value, 4)}`).join(" · ");
  return told(
    [say("method"), make("code", {}, plainly(info.method))],
    [say("measure"), make("code", {}, plainly(typeof info.similarity === "string" ? info.similarity : write(info.similarity, 4)))],
    [say("threshold"), threshold(info.min_similarity)],
    info.max_distance === null ? null : [say("max_distance"), number(info.max_distance)],
    info.floor === null ? null : [say("floor"), threshold(info.floor)],
    [say("keep"), make("code", {}, plainly(info.keep))],
    [say("removed_known"), number(info.removed)], [say("orphans"), info.orphans ? number(info.orphans) : say("none")], [say("room"), info.gone ? say("room_of", { count: number(info.gone) }) : say("none")],
    [say("size"), mebibytes(size)], [say("recipe"), make("code", {}, plainly(recipe)), true]);
}

export function show(context) {
  const live = make("div", { id: "live" });
  const fixed = make("div", { id: "facts" });
  const language = languageNow();
  let told = Date.now();
  const tellAgain = () => { // what changes slowly
    if (Date.now() - told < AGAIN) return;
    told = Date.now();
    facts(context).then((found) => fill(fixed, found), () => {}); // what is wrong is told above
  };
  const update = () => {
    if (!live.isConnected && live.childNodes.length) return stop();
    if (language !== languageNow()) return stop();
    if (!samples.at(-1)?.stores.has(context.store)) return fill(live, failure ? problem(failure) : make("p", { class: "waiting" }, say("waiting")));
    tellAgain();
    const room = (live.clientWidth || document.getElementById("main").clientWidth || 700) - 2;
    const width = room >= 816 ? Math.floor((room - 16) / 2) - 34 : room - 32;
    return fill(live, failure ? make("div", { class: "notice problem" }, say("numbers_stopped")) : null, tiles(context.store), charts(context.store, width));
  };
  const stop = listen(update);
  update();
  showing(fixed, () => facts(context));
  return [
    make("h1", {}, say("numbers_title")), make("p", { class: "lead" }, say("numbers_lead")),
    live, make("section", { class: "panel" }, make("h2", {}, say("the_store")), fixed),
  ];
}
