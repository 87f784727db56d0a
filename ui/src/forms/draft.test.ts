import { describe, expect, it } from "vitest";
import { isPlain, shown, shownLines, visible, visibleSource } from "../kit/escape";
import { isExact, parsed, received } from "../kit/exact";
import { keep, kept } from "../kit/kept";
import { compact, pretty, type JsonObject } from "../kit/values";
import { draftOf, read, startOf, type Slot } from "./draft";
import { Shapes, titlesOf } from "./shape";

const shapesOf = (properties: JsonObject, required: readonly string[] = []) => new Shapes({ type: "object", properties, required });
const fields = (own: Readonly<Record<string, NonNullable<Slot>>>): Slot => ({ fields: own, more: [] });
const valueOf = (shapes: Shapes, slot: Slot) => { const entered = read(shapes, slot, "f"); return entered.ok ? entered.value : [...entered.faults]; };

describe("what hides", () => {
  it("is an escape of JSON, and no other text looks like it", () => {
    expect(shown("a\u202eb")).toBe("a\\u202eb");
    expect(shown("a\\u202eb")).toBe("a\\\\u202eb");
    expect(shown("\u{e0041}\ud800\n\t\u00a0")).toBe("\\udb40\\udc41\\ud800\\n\\t\\u00a0");
    expect(shownLines("a\n\u200b")).toBe("a\n\\u200b");
    expect(shown("Müller 日本 שלום ☀")).toBe("Müller 日本 שלום ☀");
    const texts = ["a\\n", "a\n", "\\", "\\\\", "\u2066", "\\u2066", "\\\u2066"];
    expect(new Set(texts.map(shown)).size).toBe(texts.length);
    for (const text of texts) expect(JSON.parse(`"${shown(text)}"`)).toBe(text);
  });
  it("leaves JSON the same JSON", () => {
    const document = { "k\u202e": ["\u200b\\u200b", { a: "\ud800" }] };
    expect(JSON.parse(pretty(document))).toEqual(document);
    expect(JSON.parse(compact(document))).toEqual(document);
    expect(visible(compact(document))).toBe(compact(document));
    expect(visibleSource('{\n\t"a": "\u202e"}')).toBe('{\n\t"a": "\\u202e"}');
  });
  it("is in no text that a field holds as it is", () => { expect(["a b\n\tc", "a\u00a0", "\u202e", "\r"].map(isPlain)).toEqual([true, false, false, false]); });
});

describe("JSON that is typed", () => {
  it("is read as it stands there, or not at all", () => {
    expect(parsed('{"a": {"a": 1}, "b": [{"a": 1}, {"a": 1e2}]}')).toEqual({ a: { a: 1 }, b: [{ a: 1 }, { a: 100 }] });
    for (const text of ['{"a": 1, "a": 2}', '{"a": 1, "\\u0061": 2}', "[12345678901234567890]", "[1e400]", "-0", '{"a":{"b":1,"b":1}}', "mira", "{"]) expect(() => parsed(text), text).toThrow(SyntaxError);
  });
  it("has numbers that JavaScript writes the same", () => {
    expect(["0", "1.50", "1e3", "1E-7", "0.1", "9007199254740992", "123456789012345680000", "5e-324"].filter((text) => !isExact(text))).toEqual([]);
    expect(["9007199254740993", "0.10000000000000000555", "1e999", "-0.0", "1e-400", "x"].filter(isExact)).toEqual([]);
  });
});

describe("JSON of the server", () => {
  it("has the numbers that run, also those that JavaScript would round", () => {
    const arguments_ = received('{"amount": 12345678901234567890, "share": 0.10000000000000000555, "count": 1.50}') as JsonObject;
    keep("call", arguments_);
    expect(compact(kept("call") as JsonObject)).toBe(compact(arguments_)); // also after a reload
    expect(compact(arguments_)).toBe('{"amount":12345678901234567890,"share":0.10000000000000000555,"count":1.5}');
    const shapes = shapesOf({ amount: { type: "integer" } });
    expect(valueOf(shapes, draftOf(shapes, shapes.root, { amount: arguments_["amount"] ?? null }))).toEqual([["f/amount", expect.stringContaining("12345678901234567890 cannot be sent")]]);
  });
});

describe("a choice", () => {
  it("shows the value that is sent, and no title alone", () => {
    const titled = new Shapes({}).of({ oneOf: [{ const: "wipe", title: "Look" }, { const: "look", title: "look" }, { const: "1" }, { const: 1, title: "1" }] });
    expect(titled.kind === "choice" && titled.choices.map((one) => one.title)).toEqual(['"wipe": Look', '"look"', '"1"', "1"]);
  });
  it("among branches has titles that differ", () => {
    expect(new Set(titlesOf(["A", "A", "A (2)", "1. A"].map((title) => ({ title })))).size).toBe(4);
    expect(titlesOf([{ title: "A" }, { title: "B" }])).toEqual(["A", "B"]);
  });
});

describe("a field", () => {
  it("for a text or null is a text", () => {
    for (const schema of [{ anyOf: [{ type: "string" }, { type: "null" }] }, { oneOf: [{ type: "null" }, { type: "string" }] }, { type: ["string", "null"] }]) {
      const shapes = shapesOf({ name: schema });
      expect(shapes.of(schema)).toMatchObject({ kind: "text", isNullable: true });
      expect(valueOf(shapes, fields({ name: { text: "mira" } }))).toEqual({ name: "mira" });
      expect(valueOf(shapes, fields({ name: { none: true } }))).toEqual({ name: null });
      expect(valueOf(shapes, fields({}))).toEqual({});
      expect(draftOf(shapes, shapes.root, { name: null })).toEqual(fields({ name: { none: true } }));
    }
  });
  it("that may be null has the default that stands beside it", () => {
    const shapes = shapesOf({ name: { anyOf: [{ type: "string" }, { type: "null" }], default: "ACC-1" }, none: { anyOf: [{ type: "string" }, { type: "null" }], default: null } }, ["name", "none"]);
    expect(valueOf(shapes, startOf(shapes, shapes.root))).toEqual({ name: "ACC-1", none: null });
  });
  it("that is wrong leaves no document", () => {
    const shapes = shapesOf({ any: {}, count: { type: "integer" }, list: { type: "array", items: { type: "string" } } });
    expect(valueOf(shapes, fields({ any: { json: "mira" }, list: { items: [{ text: "a" }] } }))).toMatchObject([["f/any", expect.stringMatching("^This is not JSON")]]);
    expect(valueOf(shapes, fields({ count: { text: "twelve" } }))).toEqual([["f/count", "“twelve” is not a number."]]);
    expect(valueOf(shapes, fields({ list: { items: [{ text: "a" }, null] } }))).toEqual([["f/list/1", "It is empty: fill it in, or remove it."]]);
  });
  it("shows any document, and sends the same", () => {
    const shapes = shapesOf({ count: { type: "integer" }, name: { type: "string" }, at: { anyOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { type: "integer" }] } });
    for (const document of [{ count: "20", name: 7, other: { x: [1] } }, { name: "", at: { a: "" } }, { at: 5, __proto__: 1 }, JSON.parse('{"name": "a\\u202eb\\n", "__proto__": {"a": 1}}') as JsonObject, { at: "neither" }]) {
      expect(JSON.stringify(valueOf(shapes, draftOf(shapes, shapes.root, document)))).toBe(JSON.stringify(document));
    }
  });
  it("of another schema shows nothing of what was typed for it", () => {
    const shapes = shapesOf({ name: { type: "integer" }, choice: { enum: ["b"] } });
    expect(valueOf(shapes, fields({ name: { value: "x" }, choice: { value: "a" }, gone: { text: "y" } }))).toEqual({});
  });
  it("begins with the default of what must be there, and is empty once somebody empties it", () => {
    const shapes = shapesOf({ a: { type: "string", default: "ACC-1" }, b: { type: "string", default: "x" }, inner: { type: "object", properties: { c: { const: "k" } }, required: ["c"] } }, ["a", "inner"]);
    expect(valueOf(shapes, startOf(shapes, shapes.root))).toEqual({ a: "ACC-1", inner: { c: "k" } });
    expect(valueOf(shapes, fields({}))).toEqual({});
  });
  it("of objects that contain themselves ends", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/N" }, other: { $ref: "#/$defs/N" } }, required: ["next", "other"] };
    const shapes = new Shapes({ $ref: "#/$defs/N", $defs: { N: node, A: { anyOf: [{ $ref: "#/$defs/A" }, { type: "null" }] } } });
    expect(JSON.stringify(startOf(shapes, shapes.root)).length).toBeLessThan(10_000);
    expect(shapes.of({ $ref: "#/$defs/A" }).kind).toBe("json");
  });
});
