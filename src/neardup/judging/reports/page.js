"use strict";
(() => {
  const pairs = [...document.querySelectorAll("article.pair")];
  const panel = document.querySelector(".judging");
  if (!panel) return;
  const key = "neardup-" + document.body.dataset.run;
  let labels = {};
  let judged = [];
  let current = -1;

  const store = (action) => {
    try { return action(window.localStorage); } catch { return null; }  // a page from a file may have none
  };
  const identity = (pair) => pair.dataset.ids;
  const known = new Set(pairs.map(identity).filter(Boolean));

  const show = () => {
    let yes = 0;
    let no = 0;
    for (const pair of pairs) {
      const label = labels[identity(pair)];
      yes += label === 1;
      no += label === 0;
      for (const button of pair.querySelectorAll("[data-verdict]")) {
        button.setAttribute("aria-pressed", String(label === Number(button.dataset.verdict)));
      }
    }
    for (const band of document.querySelectorAll(".band")) {
      const found = [...band.querySelectorAll(".pair")].map((pair) => labels[identity(pair)]);
      const right = found.filter((label) => label === 1).length;
      const wrong = found.filter((label) => label === 0).length;
      band.querySelector(".verdicts").textContent = right + wrong ? `${right} duplicates, ${wrong} not` : "";
    }
    panel.querySelector(".tally").textContent =
      `${yes + no} of ${known.size} judged: ${yes} ${yes === 1 ? "duplicate" : "duplicates"}, ${no} not`;
    for (const button of panel.querySelectorAll("button")) button.disabled = yes + no === 0;
    store((storage) => storage.setItem(key, JSON.stringify(labels)));
  };

  const go = (number) => {
    if (number < 0 || number >= pairs.length) return;
    if (current >= 0) pairs[current].classList.remove("current");
    current = number;
    pairs[current].classList.add("current");
    pairs[current].focus({ preventScroll: true });
    pairs[current].scrollIntoView({ block: "start" });
  };

  const judge = (number, label) => {
    const pair = pairs[number];
    if (!pair || !identity(pair)) return;
    judged.push([number, labels[identity(pair)]]);
    labels[identity(pair)] = label;
    show();
  };

  const undo = () => {
    const last = judged.pop();
    if (!last) return;
    const [number, before] = last;
    if (before === undefined) delete labels[identity(pairs[number])];
    else labels[identity(pairs[number])] = before;
    show();
    go(number);
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
    y: () => { judge(current, 1); go(current + 1); },
    n: () => { judge(current, 0); go(current + 1); },
    u: undo,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const move = moves[event.key.toLowerCase()];
    if (!move) return;
    event.preventDefault();
    move();
  });
  pairs.forEach((pair, number) => {
    for (const button of pair.querySelectorAll("[data-verdict]")) {
      button.addEventListener("click", () => judge(number, Number(button.dataset.verdict)));
      button.parentElement.hidden = false;
    }
    pair.addEventListener("focusin", () => {
      if (current >= 0) pairs[current].classList.remove("current");
      current = number;
      pair.classList.add("current");
    });
  });
  document.getElementById("download").addEventListener("click", download);
  document.getElementById("copy").addEventListener("click", copied);
  document.getElementById("clear").addEventListener("click", () => { labels = {}; judged = []; show(); });
  window.addEventListener("beforeprint", () => {
    for (const cluster of document.querySelectorAll(".cluster")) cluster.open = true;
  });

  const before = store((storage) => JSON.parse(storage.getItem(key))) || {};
  for (const [ids, label] of Object.entries(before)) if (known.has(ids) && (label === 0 || label === 1)) labels[ids] = label;
  panel.hidden = false;
  document.querySelector(".then").hidden = false;
  show();
})();
