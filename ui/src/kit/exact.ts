/** JSON as it is typed: what JavaScript would read as something else is an error. */

import { texts } from "../texts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\]:]/g;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Read a JSON text that JavaScript holds as it stands there.
 *
 * @throws SyntaxError: it is no JSON, has a number that would be rounded, or has a key twice, of which one would be lost.
 */
export function parsed(text: string): Json {
  const value = JSON.parse(text) as Json;
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const keys = open.at(-1);
      const key = JSON.parse(last) as string;
      if (keys?.has(key) === true) throw new SyntaxError(texts.form.keyTwice(key));
      keys?.add(key);
    } else if (!token.startsWith('"') && !isExact(token)) throw new SyntaxError(texts.form.rounded(token));
    last = token;
  }
  return value;
}

interface RawJSON { rawJSON?: (text: string) => Json; isRawJSON?: (value: unknown) => boolean }
const raw = JSON as RawJSON; // of ECMAScript 2026, in browsers since 2023

/** Read JSON of the server; a number that JavaScript would round stays its text, so that a person sees the one that runs. */
export function received(text: string): unknown {
  const keep = (_key: string, value: Json, { source = "" }: { source?: string } = {}): Json => (typeof value === "number" && source !== "" && !isExact(source) ? (raw.rawJSON?.(source) ?? value) : value);
  return JSON.parse(text, keep);
}

/** Whether a value is a number that `received` has kept as its text. */
export function isRaw(value: unknown): boolean {
  return raw.isRawJSON?.(value) === true;
}

/** Whether JavaScript writes a number of JSON as the same number. */
export function isExact(text: string): boolean {
  const own = normal(text);
  return own !== null && own === normal(JSON.stringify(Number(text)));
}

/** Sign, digits and exponent of a number, which are the same for the same value; null for none. */
function normal(text: string): string | null {
  const [found, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  if (found === undefined) return null;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === "" ? `${sign}0` : `${sign}${short}e${String(BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - short.length))}`;
}
