// Untrusted texts for display: characters that are not seen, or turn the direction of others, are shown by their numbers.

const UNSEEN = new RegExp(
  "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb" +
  "\\ud800-\\udfff\\u{e0000}-\\u{e007f}\\ufdd0-\\ufdef\\ufffe\\uffff]|\\r(?!\\n)", "gu");

export const plainly = (text) =>
  String(text).replace(UNSEEN, (found) => `\u27e8U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);

// The first characters, never half of a pair.
export function clipped(text, characters) {
  if (text.length <= characters) return text;
  const end = text.codePointAt(characters - 1) > 0xffff ? characters - 1 : characters;
  return `${text.slice(0, end)}…`;
}

// Which forms of Han characters a reader expects: ja, zh, ko, or none.
export function languageOf(text) {
  const some = text.slice(0, 2000);
  if (/[\uac00-\ud7a3]/.test(some)) return "ko";
  const kana = some.match(/[\u3041-\u30ff]/g)?.length ?? 0;
  const han = some.match(/[\u3400-\u9fff]/g)?.length ?? 0;
  if (kana * 20 > han) return kana ? "ja" : "";
  return han ? "zh" : "";
}
