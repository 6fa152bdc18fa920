"use strict";
(() => {
  const pairs = [...document.querySelectorAll("article.pair")];
  const panel = document.querySelector(".judging");
  if (!panel) return;
  const bands = [...document.querySelectorAll(".band")];
  const bandOf = (pair) => pair.closest(".band");
  const filter = document.getElementById("show");
  const [same, different] = ["1", "0"].map((label) => panel.querySelector(`[data-verdict="${label}"]`));
  const key = "neardup-" + document.body.dataset.run;
  const keys = document.getElementById("keys");
  let labels = {};
  let judged = [];
  let shown = pairs;
  let current = 0;

  const store = (action) => {
    try { return action(window.localStorage); } catch { return null; }  // a page from a file may have none
  };
  const identity = (pair) => pair.dataset.ids;
  const known = new Set(pairs.map(identity).filter(Boolean));
  const verdict = (pair) => labels[identity(pair)];
  const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const words = ["different", "duplicate"];

  const showLabels = () => {
    const found = Object.values(labels);
    const yes = found.filter((label) => label === 1).length;
    for (const pair of pairs) {
      const label = verdict(pair);
      const note = pair.querySelector(".judged");
      note.hidden = label === undefined;
      note.textContent = label === undefined ? "" : `you: ${words[label]}`;
      note.dataset.label = String(label);
    }
    for (const band of bands) {
      const inside = [...band.querySelectorAll(".pair")].map(verdict);
      const [no, right] = [0, 1].map((label) => inside.filter((each) => each === label).length);
      band.querySelector(".verdicts").textContent = right + no ? `${counted(right, "duplicate")}, ${no} different` : "";
    }
    document.querySelector(".tally").textContent =
      `${found.length} of ${known.size} judged: ${counted(yes, "duplicate")}, ${found.length - yes} different`;
    for (const button of document.querySelectorAll(".actions button")) button.disabled = !found.length;
    document.getElementById("undo").disabled = !judged.length;
    store((storage) => storage.setItem(key, JSON.stringify(labels)));
  };

  const showPair = () => {
    const pair = shown[current];
    for (const each of pairs) each.hidden = each !== pair;
    for (const band of bands) {
      band.hidden = !shown.some((each) => bandOf(each) === band);
      band.open = pair !== undefined && bandOf(pair) === band;
    }
    document.querySelector(".none").hidden = pair !== undefined;
    panel.querySelector(".place").textContent = pair ? `${current + 1} of ${shown.length}` : "none";
    document.getElementById("previous").disabled = current <= 0;
    document.getElementById("next").disabled = current >= shown.length - 1;
    const label = pair ? verdict(pair) : undefined;
    same.setAttribute("aria-pressed", String(label === 1));
    different.setAttribute("aria-pressed", String(label === 0));
    same.disabled = different.disabled = !pair || !identity(pair);
  };

  const go = (number) => {
    if (number < 0 || number >= shown.length) return;
    current = number;
    showPair();
    shown[current].querySelector(".sides")?.scrollTo(0, 0);
    shown[current].focus({ preventScroll: true });
    const top = panel.getBoundingClientRect().top;
    if (top < 0 || top > window.innerHeight / 2) document.getElementById("pairs").scrollIntoView({ block: "start" });
  };

  const judge = (label) => {
    const pair = shown[current];
    if (!pair || !identity(pair)) return;
    judged.push([pair, verdict(pair)]);
    labels[identity(pair)] = label;
    showLabels();
    showPair();
  };

  const undo = () => {
    const last = judged.pop();
    if (!last) return;
    const [pair, before] = last;
    if (before === undefined) delete labels[identity(pair)];
    else labels[identity(pair)] = before;
    showLabels();
    if (!shown.includes(pair)) choose("all");
    go(shown.indexOf(pair));
  };

  const choose = (name) => {
    const chosen = { all: () => true, open: (pair) => identity(pair) && verdict(pair) === undefined, figures: (pair) => "figures" in pair.dataset };
    filter.value = name;
    shown = pairs.filter(chosen[name]);
    current = 0;
    showPair();
  };

  const csv = () => {
    const quoted = (value) => '"' + String(value).replaceAll('"', '""') + '"';
    const rows = Object.entries(labels).map(([ids, label]) => [...JSON.parse(ids).map(quoted), label].join(","));
    return ["left_id,right_id,label", ...rows].join("\r\n") + "\r\n";
  };

  const copied = async () => {
    const button = document.getElementById("copy");
    try {
      await navigator.clipboard.writeText(csv());
    } catch {  // no clipboard for pages from files everywhere
      const area = document.createElement("textarea");
      area.value = csv();
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };

  const download = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    link.download = "labels.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const moves = {
    j: () => go(current + 1),
    k: () => go(current - 1),
    y: () => { judge(1); go(current + 1); },
    n: () => { judge(0); go(current + 1); },
    u: undo,
  };
  document.addEventListener("keydown", (event) => {
    if (!keys.checked || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not(#keys), textarea, select")) return;
    const move = moves[event.key.toLowerCase()];
    if (!move) return;
    event.preventDefault();
    move();
  });
  const clicked = { previous: moves.k, next: moves.j, undo, download, copy: copied };
  for (const [id, action] of Object.entries(clicked)) document.getElementById(id).addEventListener("click", action);
  for (const button of [same, different]) button.addEventListener("click", () => judge(Number(button.dataset.verdict)));
  document.getElementById("clear").addEventListener("click", () => { labels = {}; judged = []; showLabels(); showPair(); });
  filter.addEventListener("change", () => choose(filter.value));
  for (const band of bands) {
    band.querySelector("summary").addEventListener("click", (event) => {
      event.preventDefault();
      if (band.open) band.open = false;
      else go(shown.findIndex((pair) => bandOf(pair) === band));
    });
  }

  // The keys can be switched off, in all reports: who speaks to a computer does not want the letters of words to judge.
  const showKeys = () => panel.classList.toggle("no-keys", !keys.checked);
  keys.checked = store((storage) => storage.getItem("neardup-keys")) !== "off";
  keys.addEventListener("change", () => {
    showKeys();
    store((storage) => storage.setItem("neardup-keys", keys.checked ? "on" : "off"));
  });
  showKeys();

  const before = store((storage) => JSON.parse(storage.getItem(key))) || {};
  for (const [ids, label] of Object.entries(before)) if (known.has(ids) && (label === 0 || label === 1)) labels[ids] = label;
  panel.hidden = document.querySelector(".then").hidden = false;
  showLabels();
  showPair();

  const print = window.matchMedia("print");
  const unfold = () => {
    if (!print.matches) return showPair();
    for (const pair of pairs) pair.hidden = false;
    for (const each of document.querySelectorAll(".band, .cluster")) [each.hidden, each.open] = [false, true];
  };
  print.addEventListener("change", unfold);
})();
(() => {
  const box = document.querySelector(".what-if");
  if (!box) return;
  const ranges = JSON.parse(box.dataset.ranges);
  const documents = Number(box.dataset.documents);
  const slider = box.querySelector("input");
  const sign = box.dataset.by === "similarity" ? "≥" : "≤";
  const number = (value) => value.toLocaleString("en");
  const span = (low, high) => (low === high ? number(low) : `${number(low)} to ${number(high)}`);
  const percent = (value) => (100 * value / (documents || 1)).toFixed(1);

  const show = () => {
    const [threshold, least, most, exact] = ranges[slider.value];
    const at = String(threshold);
    const parts = box.querySelectorAll(".balance span");
    [documents - most, most - least, least].forEach((size, i) => { parts[i].style.flexGrow = size; });
    const share = percent(least) === percent(most) ? `${percent(least)} %` : `${percent(least)} to ${percent(most)} %`;
    const change = Number(slider.value) === 0 ? "the threshold of this run"
      : exact ? "the same as this run: no match lies below"
      : `an estimate; this run removed ${number(ranges[0][1])}`;
    box.querySelector(".at").textContent = `${sign} ${at}`;
    slider.setAttribute("aria-valuetext", `${at}: ${span(least, most)} removed`);
    const strong = document.createElement("strong");
    strong.textContent = `${exact ? "" : "about "}${span(documents - most, documents - least)} kept, ${span(least, most)} removed`;
    box.querySelector(".outcome").replaceChildren(strong, ` (${share}): ${change}`);
  };
  slider.addEventListener("input", show);
  box.querySelector(".slider").hidden = false;
  show();
})();
