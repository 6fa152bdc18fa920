// Asks the service. Addresses are relative to the page; the token is in the memory of the tab, and in no address.
import { parse, plain, write } from "./json.js";

const KEY = "neardup-token";
let token = sessionStorage.getItem(KEY) ?? "";
let wanted = null; // asks the user for a token, once for all requests that wait for it

export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export const hasToken = () => token !== "";
export function setToken(given) {
  token = given;
  if (given) sessionStorage.setItem(KEY, given);
  else sessionStorage.removeItem(KEY);
}

let asksForToken = async () => false;
export const whenTokenIsWanted = (asks) => { asksForToken = asks; };

async function sent(path, body) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(path, {
      method: body === undefined ? "GET" : "POST", headers, body: body === undefined ? undefined : write(body),
      cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    });
  } catch {
    throw new Problem(0, "unreachable", "");
  }
}

async function problemOf(response) {
  const text = await response.text();
  try {
    const told = plain(parse(text));
    return new Problem(response.status, String(told.code), String(told.detail));
  } catch {
    return new Problem(response.status, "unknown", `${response.status} ${response.statusText}`);
  }
}

// The text of an answer. A quiet request never asks the user for a token.
export async function askText(path, body, { quiet = false } = {}) {
  for (;;) {
    const with_ = token;
    const response = await sent(path, body);
    if (response.ok) return response.text();
    const problem = await problemOf(response);
    if (problem.status !== 401 || quiet) throw problem;
    if (token !== with_) continue;
    wanted ??= asksForToken(problem).finally(() => { wanted = null; });
    if (!(await wanted)) throw problem;
  }
}

export async function ask(path, body, options) {
  const text = await askText(path, body, options);
  try {
    return plain(parse(text));
  } catch {
    throw new Problem(0, "unreadable", "");
  }
}
export const ofStore = (store, name) => `v1/stores/${encodeURIComponent(store)}/${name}`;
