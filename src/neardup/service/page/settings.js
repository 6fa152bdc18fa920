// Settings that the browser keeps: the language and the shortcut keys. Where it keeps nothing, they last as long as the page.

const [PREFIX, ON, OFF] = ["neardup-", "on", "off"];
const kept = new Map();

export function setting(name) {
  try {
    return localStorage.getItem(PREFIX + name) ?? kept.get(name) ?? "";
  } catch {
    return kept.get(name) ?? "";
  }
}

export function keepSetting(name, value) {
  kept.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch { /* private windows and policies */ }
}

// Single keys do something unless somebody has switched that off, as those do who speak to their computer.
export const hasKeys = () => setting("keys") !== OFF;
export const setKeys = (isOn) => keepSetting("keys", isOn ? ON : OFF);
