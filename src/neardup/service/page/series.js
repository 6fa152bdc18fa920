// Numbers of the service over time: asked while the page is open, kept in the memory of the tab.
import { askText } from "./requests.js";

const EVERY = 2000; // milliseconds
const KEPT = 1800; // an hour
const WINDOW = 60000; // milliseconds over which rates, shares and latencies are told
const OWN = new Set(["page", "metrics", "info", "stores", "health", "ready"]); // routes that say nothing of the load
const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/s; // names may have characters that end lines, though not in this format
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/gs;

export const samples = [];
export let failure = null;
const listeners = new Set();
export const listen = (listener) => { listeners.add(listener); return () => listeners.delete(listener); };

// Metrics in the text format of Prometheus: name, labels, value.
export function* metricsOf(text) {
  for (const line of text.split("\n")) {
    const found = line.startsWith("#") ? null : LINE.exec(line);
    if (!found) continue;
    const labels = Object.create(null);
    for (const [, name, value] of (found[2] ?? "").matchAll(LABEL)) {
      labels[name] = value.replace(/\\(.)/g, (_, each) => (each === "n" ? "\n" : each));
    }
    yield { name: found[1], labels, value: found[3] === "+Inf" ? Infinity : Number(found[3]) };
  }
}

const OF_STORE = {
  neardup_store_documents: "documents", neardup_store_checks_total: "checks", neardup_store_waiting_documents: "waiting",
  neardup_store_ready: "ready", neardup_store_failures_total: "failures",
};

export function sampleOf(text, at) {
  const sample = { at, stores: new Map(), requests: 0, refused: 0, failed: 0, running: 0, buckets: new Map() };
  const of = (name) => {
    if (!sample.stores.has(name)) sample.stores.set(name, { documents: 0, checks: 0, waiting: 0, ready: 1, failures: 0, new: 0, update: 0, duplicate: 0 });
    return sample.stores.get(name);
  };
  for (const { name, labels, value } of metricsOf(text)) {
    if (Object.hasOwn(OF_STORE, name)) of(labels.store)[OF_STORE[name]] = value;
    else if (name === "neardup_store_added_total" && Object.hasOwn(of(labels.store), labels.outcome)) of(labels.store)[labels.outcome] = value;
    else if (name === "neardup_requests_running") sample.running = value;
    else if (name === "neardup_requests_total" && !OWN.has(labels.route)) {
      sample.requests += value;
      if (labels.status >= "500") sample.failed += value;
      else if (labels.status >= "400") sample.refused += value;
    } else if (name === "neardup_request_seconds_bucket" && !OWN.has(labels.route)) {
      const limit = labels.le === "+Inf" ? Infinity : Number(labels.le);
      sample.buckets.set(limit, (sample.buckets.get(limit) ?? 0) + value);
    }
  }
  return sample;
}

// The seconds below which a share of the requests between two samples took, told from the buckets; null without requests.
export function quantile(before, after, share) {
  const limits = [...after.buckets.keys()].sort((a, b) => a - b);
  const counts = limits.map((limit) => after.buckets.get(limit) - (before.buckets.get(limit) ?? 0));
  const wanted = share * (counts.at(-1) ?? 0);
  if (!(wanted > 0)) return null;
  const place = counts.findIndex((count) => count >= wanted);
  const from = place ? limits[place - 1] : 0;
  if (limits[place] === Infinity) return from;
  const below = place ? counts[place - 1] : 0;
  return from + ((limits[place] - from) * (wanted - below)) / (counts[place] - below);
}

// For each sample, the one that was a window before it; none across a restart of the service, at which counts begin anew.
export function windows() {
  const found = [];
  let first = 0;
  samples.forEach((sample, place) => {
    if (place && sample.requests < samples[place - 1].requests) first = place;
    while (samples[first].at < sample.at - WINDOW) first += 1;
    if (first < place) found.push([samples[first], sample]);
  });
  return found;
}

export const seconds = ([before, after]) => (after.at - before.at) / 1000;
export function duplicatesShare([before, after], store) {
  const [a, b] = [before.stores.get(store), after.stores.get(store)];
  if (!a || !b) return null;
  const duplicates = b.duplicate - a.duplicate;
  const all = duplicates + b.new - a.new + b.update - a.update;
  return all > 0 ? duplicates / all : null;
}

let timer = null;
export async function poll() {
  clearTimeout(timer);
  try {
    samples.push(sampleOf(await askText("metrics", undefined, { quiet: true }), Date.now()));
    if (samples.length > KEPT) samples.shift();
    failure = null;
  } catch (found) {
    failure = found;
  }
  timer = setTimeout(poll, EVERY);
  for (const listener of listeners) listener();
}
