/**
 * What a person sees in a form, read from its elements alone; random schemas and random texts.
 *
 * It imports nothing, so that a test evaluates it in a browser as it stands here.
 */

/** A value in which a number is its exact text, which JavaScript may not hold: `{"#": …}`. */
export type Exact = null | boolean | string | readonly Exact[] | { readonly [key: string]: Exact };
/** What a field shows: a value, undefined where it is not set, or something that cannot be sent. */
export type Displayed = { readonly value: Exact | undefined } | "wrong";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The exact value of JSON, for comparison. A key that is there twice, of which JavaScript keeps one, is an error. */
export function exact(text: string): Exact {
  JSON.parse(text);
  let at = 0;
  const space = (): void => { while (/[ \t\r\n]/.test(text[at] ?? "")) at += 1; };
  const value = (): Exact => {
    space();
    const found = /^(?:"(?:[^"\\]|\\.)*"|[-\d][-+.\deE]*|true|false|null|[[{])/.exec(text.slice(at))?.[0] ?? "";
    at += found.length;
    if (found.startsWith('"')) return JSON.parse(found) as string;
    if (found === "[" || found === "{") {
      const items: Exact[] = [];
      const keys: string[] = [];
      for (;;) {
        space();
        if (text[at] === "]" || text[at] === "}") break;
        if (text[at] === ",") at += 1;
        if (found === "{") {
          keys.push(value() as string);
          space();
          at += 1; // the colon
        }
        items.push(value());
      }
      at += 1;
      if (found === "[") return items;
      if (new Set(keys).size < keys.length) throw new Error("a key is there twice");
      return Object.fromEntries(keys.map((key, index) => [key, items[index] ?? null]));
    }
    return /^[-\d]/.test(found) ? { "#": decimal(found) } : (JSON.parse(found) as null | boolean);
  };
  return value();
}

/** A number as a fraction of a power of ten, in lowest terms. */
function decimal(text: string): string {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = BigInt(`${whole}${fraction}`);
  if (digits === 0n) return text.startsWith("-") ? "-0" : "0";
  const short = digits.toString().replace(/0+$/, "");
  return `${short}e${String(Number(exponent) - fraction.length + digits.toString().length - short.length)}`;
}

/** Two values that are the same, whatever the order of their keys. */
export function same(left: Exact | undefined, right: Exact | undefined): boolean {
  const sorted = (value: unknown): unknown => (typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value);
  return JSON.stringify(left, (_name, value: unknown) => sorted(value)) === JSON.stringify(right, (_name, value: unknown) => sorted(value));
}

/** What the field of an element shows. */
export function displayed(field: Element): Displayed {
  const all = <Kind extends Element>(selector: string) => [...field.querySelectorAll<Kind>(selector)].filter((element) => element.closest(".field") === field);
  const [none] = all<HTMLInputElement>(".none input");
  if (none?.checked === true) return { value: null };
  const [box] = all<HTMLTextAreaElement>("textarea");
  const [output] = all("output.hides:not(.key)");
  const [input = box] = all<HTMLInputElement>("input:not([type=radio]):not([type=checkbox]):not(.key)");
  switch (field.getAttribute("data-kind")) {
    case "json": return json(box?.value ?? "");
    case "text": {
      if (output !== undefined) return { value: unescaped(output.textContent) };
      const isEmpty = all(".tag").length > 0;
      return { value: input?.value === "" && !isEmpty ? undefined : (input?.value ?? "") };
    }
    case "number": {
      if (output !== undefined) return "wrong";
      const text = input?.value.replace(/^[ \n\t]+|[ \n\t]+$/g, "") ?? "";
      if (text === "") return { value: undefined };
      return NUMBER.test(text) ? json(text) : "wrong";
    }
    case "choice": {
      const [constant] = all(".constant");
      if (constant !== undefined) return json(constant.textContent);
      const [select] = all<HTMLSelectElement>("select");
      const title = select === undefined ? all("input[type=radio]:checked + span")[0]?.textContent : select.value === "-1" ? undefined : select.selectedOptions[0]?.text;
      return { value: title === undefined ? undefined : chosen(title) };
    }
    case "list": {
      const [frame] = all("fieldset");
      const items = inner(field).map(displayed);
      if (items.length === 0) return { value: frame?.querySelector(":scope > .muted") === null ? undefined : [] };
      return items.every((item): item is { value: Exact } => item !== "wrong" && item.value !== undefined) ? { value: items.map((item) => item.value) } : "wrong";
    }
    case "object": {
      if (all("fieldset").length === 0) return { value: undefined };
      const parts = inner(field).map((one): [string, Displayed, boolean] => {
        const key = [...one.querySelectorAll<HTMLInputElement | HTMLOutputElement>(".key")].find((element) => element.closest(".field") === one);
        const name = key === undefined ? (one.querySelector(".label")?.firstChild?.textContent ?? "") : key.matches("output") ? key.textContent : escaped(key.value);
        return [unescaped(name), displayed(one), key !== undefined];
      });
      if (parts.some(([, value, isEntry]) => value === "wrong" || (isEntry && value.value === undefined))) return "wrong";
      if (new Set(parts.map(([name]) => name)).size < parts.length) return "wrong";
      return { value: Object.fromEntries(parts.flatMap(([name, value]): [string, Exact][] => (value === "wrong" || value.value === undefined ? [] : [[name, value.value]]))) };
    }
    case "union": {
      const [of] = inner(field);
      return of === undefined ? { value: undefined } : displayed(of);
    }
    default: throw new Error(`no field: ${field.outerHTML.slice(0, 200)}`);
  }
}

/** The fields that stand inside of a field, and of no other one there. */
function inner(field: Element): Element[] {
  return [...field.querySelectorAll(".field")].filter((one) => one.parentElement?.closest(".field") === field);
}

function json(text: string): Displayed {
  if (text.trim() === "") return { value: undefined };
  try {
    const value = exact(text);
    const sent = exact(JSON.stringify(JSON.parse(text)));
    return same(value, sent) ? { value } : "wrong"; // JavaScript would send another number
  } catch {
    return "wrong";
  }
}

/** The text of which an escape is shown: each is one of JSON. */
function unescaped(text: string): string {
  return JSON.parse(`"${text.replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`) as string;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\");
}

/** The value of a choice by its title: a text, but where it reads as JSON. */
function chosen(title: string): Exact {
  const text = unescaped(title);
  try {
    return exact(text);
  } catch {
    return text;
  }
}

export type Random = () => number;

/** The same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to choose from");
  return item;
}

type Schema = Record<string, unknown>;
const NAMES = ["name", "account", "at", "note", "amount", "__proto__", "a b", "a/b~c", "ünicode", "constructor", "x\u202ey", "back\\slash"];

/** A schema of arguments. */
export function schemaOf(random: Random): Schema {
  return objectOf(random, 0);
}

function objectOf(random: Random, depth: number): Schema {
  const names = [...new Set(Array.from({ length: Math.floor(random() * 4) + (depth === 0 ? 1 : 0) }, () => pick(random, NAMES)))];
  const properties = Object.fromEntries(names.map((name) => [name, anyOf(random, depth + 1)]));
  return { type: "object", properties, required: names.filter(() => random() < 0.4), additionalProperties: pick(random, [false, false, true, { type: "string" }]) };
}

function anyOf(random: Random, depth: number): Schema {
  const kinds = ["text", "text", "nullable", "nullable", "number", "integer", "boolean", "choice", "many", "constant", "any", "default", "types", ...(depth < 4 ? ["list", "map", "object", "union", "tagged", "all"] : [])];
  switch (pick(random, kinds)) {
    case "text": return { type: "string", ...pick<Schema>(random, [{}, { maxLength: 500 }, { format: "date-time" }, { format: "byte" }, { description: "Of \u202e it." }]) };
    case "nullable": return { [pick(random, ["anyOf", "oneOf"])]: [pick(random, [{ type: "string" }, { type: "string" }, anyOf(random, depth + 1)]), { type: "null" }] };
    case "number": return { type: "number" };
    case "integer": return { type: "integer", minimum: 0 };
    case "boolean": return { type: "boolean" };
    case "choice": return { enum: pick(random, [["red", "green"], ["1", 1, null, "null"], ["a\u200bb", "ab"], [true, "true"]]) };
    case "many": return { enum: Array.from({ length: 9 }, (_, at) => `choice-${String(at)}`) };
    case "constant": return { const: pick<unknown>(random, ["fixed", 7, null]) };
    case "any": return pick<Schema>(random, [{}, { type: "object" }, { type: "array" }, { type: "array", prefixItems: [{ type: "string" }] }]);
    case "default": return pick<Schema>(random, [{ type: "string", default: "ACC-1" }, { type: "integer", default: 20 }, { type: "string", default: "" }]);
    case "types": return { type: pick(random, [["string", "null"], ["string", "integer"], ["integer", "null", "boolean"]]) };
    case "list": return { type: "array", items: anyOf(random, depth + 1) };
    case "map": return { type: "object", additionalProperties: anyOf(random, depth + 1) };
    case "object": return objectOf(random, depth);
    case "union": return { anyOf: [anyOf(random, depth + 1), anyOf(random, depth + 1), { type: "string" }] };
    case "tagged": {
      const branches = ["dim", "heat"].map((tag): Schema => ({ type: "object", properties: { kind: { const: tag }, value: anyOf(random, depth + 1) }, required: ["kind"] }));
      return { oneOf: branches };
    }
    default: return { allOf: [objectOf(random, depth + 1), { type: "object", properties: { both: { type: "string" } }, required: [] }] };
  }
}

/** A document that came from elsewhere, such as an example: it fits a schema, or does not. */
export function documentOf(random: Random, depth = 0): Schema {
  const value = (): unknown => pick<() => unknown>(random, [() => pick(random, TYPED), () => pick<unknown>(random, [7, 1.5, true, null, "", "fixed", "red", "1", 1]), ...(depth < 3 ? [() => [value(), value()], () => documentOf(random, depth + 1)] : [])])();
  return Object.fromEntries([...NAMES, "kind", "value", "both"].filter(() => random() < 0.25).map((name) => [name, value()]));
}

/** Texts that somebody types, or pastes. */
export const TYPED = [
  "mira", '"mira"', "ACC-2", '"ACC-1"', "bob", "{", "[1,", '{"a": 1, "a": 2}', '{"a": 1}', "[]", "{}", "null", "true", "12", "1.50", "007", "+1", "0x10", "1e3", "1e400", "-0", "12345678901234567890", "[9007199254740993]", "0.1",
  "0.10000000000000000555", " 5 ", "", " ", "a\u202eb", "\u200b", '"\u202e"', "\\u202e", "back\\slash", "tab\tx", "no\u00a0break", "\ufeff", "2026-02-30", "日本", "👩\u200d💻", "\u{e0041}", "\ud800", "__proto__", "kind",
];
