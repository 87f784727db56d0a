/** Schemas of the catalogue as form libraries and tables take them. */

import type { Catalogue, Schema, TypedSchema } from "../api/client";
import { isObject, type Json, type JsonObject } from "../kit/values";

/** A schema that stands alone: the types of its catalogue, to which it may refer, are in it (docs/catalog.md, Types). */
export function whole(part: { readonly schema: Schema }, catalogue: Pick<Catalogue, "types">): Schema {
  const { $ref: reference, ...others } = part.schema as JsonObject & { $ref?: string };
  const schema = reference === undefined ? part.schema : { ...others, ...resolved(part.schema, { types: catalogue.types ?? {} }) };
  return catalogue.types === undefined ? schema : { ...schema, types: catalogue.types };
}

/** Follow `$ref` by JSON Pointers into `root` (RFC 6901); what stands beside it is kept. A cycle of nothing but references ends. */
export function resolved(schema: Schema, root: JsonObject): Schema {
  let found = schema;
  for (let steps = 0; typeof found["$ref"] === "string" && steps < 32; steps += 1) {
    const { $ref: reference, ...beside } = found as JsonObject & { $ref: string };
    const target = at(root, reference.replace(/^#/, ""));
    if (!isObject(target)) return beside;
    found = { ...target, ...beside };
  }
  return found;
}

/** The value at a JSON Pointer; undefined where there is none. */
export function at(document: Json, pointer: string): Json | undefined {
  let value: Json | undefined = document;
  for (const token of pointerParts(pointer)) {
    if (Array.isArray(value)) value = (value as readonly Json[])[Number(token)];
    else if (isObject(value) && Object.hasOwn(value, token)) value = value[token];
    else return undefined;
  }
  return value;
}

export function pointerParts(pointer: string): string[] {
  return pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The branches of a union, resolved; none where a schema is no union. */
export function branches(schema: Schema, root: JsonObject): readonly Schema[] {
  const union = schema["oneOf"] ?? schema["anyOf"];
  return Array.isArray(union) ? union.filter(isObject).map((branch) => resolved(branch, root)) : [];
}

/** What a branch is called, and the properties that pin it. */
export function branchTitle(branch: Schema, index: number): string {
  if (typeof branch["title"] === "string") return branch["title"];
  if (branch["const"] !== undefined) return text(branch["const"]);
  return typeof branch["type"] === "string" ? branch["type"] : `choice ${index + 1}`;
}

export function pins(branch: Schema): JsonObject {
  const properties = branch["properties"];
  if (!isObject(properties)) return {};
  return Object.fromEntries(Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) && property["const"] !== undefined ? [[name, property["const"]]] : []));
}

/** Widgets by place: what is sensitive is a password (`*` in a pointer is every item or key). */
export function widgets(part: TypedSchema): JsonObject {
  const root: Record<string, unknown> = {};
  for (const pointer of part.sensitive ?? []) {
    let place = root;
    for (const token of pointerParts(pointer)) {
      const key = token === "*" ? "items" : token;
      place = (place[key] ??= {}) as Record<string, unknown>;
    }
    place["ui:widget"] = "password";
  }
  return root as JsonObject;
}

const TYPES: Readonly<Record<string, string>> = { integer: "whole number", number: "number", boolean: "true or false", string: "text", null: "null" };

/** The type of a schema in words, such as "list of Device". */
export function typeWords(schema: Schema, root: JsonObject, depth = 0): string {
  const own = resolved(schema, root);
  const union = branches(own, root);
  if (own["const"] !== undefined) return JSON.stringify(own["const"]);
  if (union.length > 0) return depth > 2 ? "one of several" : `one of ${union.map((branch, index) => branchTitle(branch, index)).join(", ")}`;
  if (Array.isArray(own["enum"])) return "one of these";
  if (own["type"] === "array") return isObject(own["items"]) ? `list of ${typeWords(own["items"], root, depth + 1)}` : "list";
  if (own["type"] === "object") return typeof own["title"] === "string" ? own["title"] : isObject(own["additionalProperties"]) ? "map" : "object";
  if (Array.isArray(own["type"])) return (own["type"] as readonly Json[]).map((name) => TYPES[text(name)] ?? text(name)).join(" or ");
  const name = typeof own["format"] === "string" ? own["format"] : own["type"];
  return typeof name === "string" ? (TYPES[name] ?? name) : "any value";
}

/** A value in a sentence: a text as it is, all else as JSON. */
export function text(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

const LIMITS: readonly (readonly [string, (value: Json) => string])[] = [
  ["minimum", (value) => `at least ${text(value)}`], ["exclusiveMinimum", (value) => `more than ${text(value)}`],
  ["maximum", (value) => `at most ${text(value)}`], ["exclusiveMaximum", (value) => `less than ${text(value)}`],
  ["multipleOf", (value) => `a multiple of ${text(value)}`], ["minLength", (value) => `at least ${text(value)} characters`],
  ["maxLength", (value) => `at most ${text(value)} characters`], ["pattern", (value) => `matches ${text(value)}`],
  ["minItems", (value) => `at least ${text(value)} items`], ["maxItems", (value) => `at most ${text(value)} items`],
  ["uniqueItems", (value) => (value === true ? "no item twice" : "")], ["minProperties", (value) => `at least ${text(value)} keys`],
  ["maxProperties", (value) => `at most ${text(value)} keys`], ["x-minimum", (value) => `at least ${text(value)}`],
  ["x-maximum", (value) => `at most ${text(value)}`],
];

/** The limits of a schema, each in words. */
export function limitWords(schema: Schema): readonly string[] {
  return LIMITS.flatMap(([key, words]) => (schema[key] === undefined ? [] : [words(schema[key])])).filter(Boolean);
}
