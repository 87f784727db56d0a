/** Text of a model, of a peer or of a schema as a person reads it: what nobody would see is an escape. Nothing of it is sent. */

import { SHORT_ESCAPES, UNSEEN } from "./hidden";

const RANGES = UNSEEN.map((range) => range.map((code) => `\\u{${code.toString(16)}}`).join("-")).join("");
/** What Python does not print either: all categories of Unicode but those of what is drawn, without the space. */
export const HIDDEN = new RegExp(`(?! )[\\p{C}\\p{Z}${RANGES}]`, "u");
const EACH = new RegExp(HIDDEN, "gu");

/** A text on one line in which what hides is escaped. The escapes are those of JSON: JSON without line breaks stays the same JSON. */
export function visible(text: string): string {
  return text.replace(EACH, (found) => SHORT_ESCAPES[found] ?? [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""));
}

/** The same of each line. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

/** A text on one line that no other text looks like: backslashes are escaped, too. */
export function shown(text: string): string {
  return visible(text.replaceAll("\\", "\\\\"));
}

/** The same of each line, where line breaks are shown as they are. */
export function shownLines(text: string): string {
  return text.split("\n").map(shown).join("\n");
}

/** Whether a field can hold a text as it is: nothing but line breaks and tabs would be escaped. */
export function isPlain(text: string): boolean {
  return !HIDDEN.test(text.replaceAll(/[\n\t]/g, ""));
}

/** JSON that somebody types: tabs and line breaks stay, and what else hides is an escape. */
export function visibleSource(text: string): string {
  return text.split(/(\n|\t)/).map((part) => (part === "\t" || part === "\n" ? part : visible(part))).join("");
}

/** A text of Markdown, of which no other one looks like it but for tabs and line breaks, which are only space there. */
export function shownSource(text: string): string {
  return visibleSource(text.replaceAll("\\", "\\\\"));
}
