/** Schemas of the catalog in words. */

import { branchesOf, resolved } from "../../../toolgen/templates/typescript/forms";
import type { Schema } from "../api/client";
import { isObject, type Json, type JsonObject } from "../kit/values";

/** What a branch is called. */
export function branchTitle(branch: Schema, index: number): string {
  if (typeof branch["title"] === "string") return branch["title"];
  if (branch["const"] !== undefined) return text(branch["const"]);
  return typeof branch["type"] === "string" ? branch["type"] : `choice ${index + 1}`;
}

const TYPES: Readonly<Record<string, string>> = { integer: "whole number", number: "number", boolean: "true or false", string: "text", null: "null" };

/** The type of a schema in words, such as "list of Device". */
export function typeWords(schema: Schema, root: JsonObject, depth = 0): string {
  const own = resolved(schema, root);
  const union = branchesOf(own, root);
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
