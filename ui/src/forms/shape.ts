/** What a field is, of a schema: the form draws nothing that is not one of these, and falls back to JSON at its place. */

import { branchesOf, resolved, type FormObject } from "../../../toolgen/templates/typescript/forms";
import { alone, entries, isList, isRequired, modern, without } from "../../../toolgen/templates/typescript/schemas";
import { isObject, type Json, type JsonObject } from "../kit/values";
import { branchTitle, text } from "./schema";

export interface Property { readonly name: string; readonly schema: FormObject; readonly isRequired: boolean }
export type Kind =
  | { readonly kind: "json" | "number" }
  | { readonly kind: "text"; readonly isLong: boolean }
  | { readonly kind: "choice"; readonly choices: readonly { readonly title: string; readonly value: Json }[] }
  | { readonly kind: "object"; readonly properties: readonly Property[]; readonly others: FormObject | null }
  | { readonly kind: "list"; readonly items: FormObject }
  | { readonly kind: "union"; readonly branches: readonly FormObject[] };
/** `schema` is the one whose title, description and limits are shown. */
export type Shape = Kind & { readonly schema: FormObject; readonly isNullable: boolean };

const LONG = 200; // characters
const MOST_STEPS = 8; // unions inside one another; one that is its own branch has no end
const ANY: FormObject = {};

/** The shapes of a schema that stands alone, each made once. */
export class Shapes {
  readonly root: FormObject;
  readonly #made = new WeakMap<FormObject, Shape>();

  constructor(schema: JsonObject, types: JsonObject = {}) {
    this.root = modern(alone(schema, types));
  }

  of(schema: FormObject): Shape {
    const made = this.#made.get(schema) ?? shapeOf(schema, this.root);
    this.#made.set(schema, made);
    return made;
  }
}

function shapeOf(given: FormObject, root: FormObject, steps = 0): Shape {
  const own = joined(resolved(given, root), root);
  const shape = (kind: Kind): Shape => ({ ...kind, schema: own ?? given, isNullable: false });
  if (own === null || steps > MOST_STEPS) return shape({ kind: "json" });
  const values = "const" in own ? [own["const"] ?? null] : own["enum"];
  if (isList(values)) return shape(choiceOf(values));
  const branches = ownBranches(own, root);
  if (branches.length > 0) {
    if (branches.every((branch) => "const" in branch)) return shape(choiceOf(branches.map((branch) => branch["const"] ?? null), branches.map(branchTitle)));
    const others = branches.filter((branch) => branch["type"] !== "null" && branch["const"] !== null);
    const isNullable = others.length < branches.length;
    const [only] = others;
    if (only === undefined) return shape(choiceOf([null]));
    if (others.length > 1) return { kind: "union", branches: others, schema: own, isNullable };
    const inner = shapeOf(only, root, steps + 1);
    const beside = ["title", "description", "default"].flatMap((key): [string, Json][] => (own[key] === undefined ? [] : [[key, own[key]]]));
    return { ...inner, isNullable: isNullable || inner.isNullable, schema: { ...inner.schema, ...Object.fromEntries(beside) } };
  }
  switch (own["type"] ?? (isObject(own["properties"]) ? "object" : undefined)) {
    case "string": return shape({ kind: "text", isLong: own["format"] === undefined && Number(own["maxLength"] ?? 0) > LONG });
    case "integer": case "number": return shape({ kind: "number" });
    case "boolean": return shape(choiceOf([true, false]));
    case "null": return shape(choiceOf([null]));
    case "array": return "prefixItems" in own || !isObject(own["items"]) || Object.keys(own["items"]).length === 0 ? shape({ kind: "json" }) : shape({ kind: "list", items: own["items"] });
    case "object": {
      if ("patternProperties" in own) return shape({ kind: "json" });
      const others = own["additionalProperties"];
      if (!isObject(own["properties"]) && others !== false && (!isObject(others) || Object.keys(others).length === 0)) return shape({ kind: "json" });
      const names = isObject(own["properties"]) ? Object.entries(own["properties"]) : [];
      const properties = names.map(([name, one]): Property => ({ name, schema: isObject(one) ? one : ANY, isRequired: isRequired(own, name) }));
      return shape({ kind: "object", properties, others: others === true ? ANY : isObject(others) ? others : null });
    }
    default: return shape({ kind: "json" });
  }
}

/** The branches of a union, each with what stands beside it; of a list of types one for each. */
function ownBranches(own: FormObject, root: FormObject): readonly FormObject[] {
  const type = own["type"];
  if (isList(type) && !("oneOf" in own || "anyOf" in own)) return type.map((one) => ({ ...without(own, "title"), type: one }));
  const base = without(without(own, "oneOf"), "anyOf");
  return branchesOf(own, root).map((branch) => (entries(base["properties"]).length === 0 ? branch : union(base, branch)));
}

/** A schema without `allOf`; null where its parts are no objects that a form can draw as one. */
function joined(own: FormObject, root: FormObject): FormObject | null {
  const parts = own["allOf"];
  if (!isList(parts)) return own;
  const all = parts.map((part) => (isObject(part) ? resolved(part, root) : ANY));
  if (!all.every((part) => !("oneOf" in part || "anyOf" in part || "allOf" in part) && (isObject(part["properties"]) || isList(part["required"])))) return null;
  return all.reduce((sum, part) => union(sum, part), without(own, "allOf"));
}

function union(left: FormObject, right: FormObject): FormObject {
  const properties = Object.fromEntries([...entries(left["properties"]), ...entries(right["properties"])]);
  const required = [left, right].flatMap((one) => (isList(one["required"]) ? one["required"] : []));
  return { ...left, ...right, type: "object", properties, required };
}

/** Titles that differ, so that a person sees what is chosen. */
export function titlesOf(branches: readonly FormObject[]): readonly string[] {
  const titles = branches.map(branchTitle);
  return new Set(titles).size === titles.length ? titles : titles.map((title, at) => `${at + 1}. ${title}`);
}

/** A choice shows the values themselves: a title alone may say something else. */
function choiceOf(values: readonly Json[], titles: readonly string[] = []): Kind {
  const texts = values.map(text);
  const isTold = new Set(texts).size === values.length; // the text "1" and the number 1 are not
  const choices = values.map((value, at) => {
    const own = isTold ? (texts[at] ?? "") : JSON.stringify(value);
    const title = titles[at];
    return { title: title === undefined || title === texts[at] ? own : `${own}: ${title}`, value };
  });
  return { kind: "choice", choices };
}
