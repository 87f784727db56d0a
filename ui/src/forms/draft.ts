/**
 * What stands in the fields of a form, as it was typed: the one state of the form.
 *
 * The document and what is wrong with it are read from it, and nothing else is sent. Where something is wrong there is no document.
 */

import { isExact, parsed } from "../kit/exact";
import { isObject, pretty, type Json, type JsonObject } from "../kit/values";
import type { FormObject } from "../../../toolgen/templates/typescript/forms";
import { escaped } from "../../../toolgen/templates/typescript/schemas";
import { shown } from "../kit/escape";
import { texts } from "../texts";
import type { Property, Shape, Shapes } from "./shape";
import { branchOf } from "./validator";

export type Draft =
  | { readonly text: string } // of a text or a number
  | { readonly json: string } // of any field
  | { readonly value: Json } // that was chosen
  | { readonly none: true } // null
  | { readonly fields: Readonly<Record<string, Draft>>; readonly more: readonly Entry[] }
  | { readonly items: readonly Slot[] }
  | { readonly branch: number; readonly of: Slot };
/** A draft; null for a field that is not set. */
export type Slot = Draft | null;
/** A key that the schema does not name. */
export interface Entry { readonly key: string; readonly of: Slot }
/** What a form has: a value, or what is wrong, by the id of the field. There is nothing to send where something is wrong. */
export type Entered<Value = Json | undefined> =
  | { readonly ok: true; readonly value: Value; readonly faults: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly faults: ReadonlyMap<string, string> };

/** The steps to each value that is sensitive, of which `*` is every item and every key. */
export type Ways = readonly (readonly string[])[];

export const ANY: FormObject = {};
const MOST_OPEN = 4; // objects inside one another that are there before a person adds one

/** The draft with which a field begins: what must be there, with its defaults. */
export function startOf(shapes: Shapes, schema: FormObject, isRequired = true, depth = 0): Slot {
  if (!isRequired) return null;
  const shape = shapes.of(schema);
  const value = shape.schema["default"];
  if (value !== undefined) return draftOf(shapes, schema, value);
  if (shape.kind !== "object" || depth > MOST_OPEN || (shape.properties.length === 0 && shape.others !== null)) return null;
  const fields = shape.properties.flatMap((one): [string, Draft][] => {
    const slot = startOf(shapes, one.schema, one.isRequired, depth + 1);
    return slot === null ? [] : [[one.name, slot]];
  });
  return { fields: Object.fromEntries(fields), more: [] };
}

/** The draft of a value that came from elsewhere: what its field cannot show is JSON there. */
export function draftOf(shapes: Shapes, schema: FormObject, value: Json): Draft {
  const shape = shapes.of(schema);
  if (value === null && shape.isNullable) return { none: true };
  switch (shape.kind) {
    case "text": if (typeof value === "string") return { text: value }; break;
    case "number": if (typeof value === "number") return { text: JSON.stringify(value) }; break;
    case "choice": if (indexOf(shape.choices, value) >= 0) return { value }; break;
    case "list": if (Array.isArray(value)) return { items: (value as readonly Json[]).map((item) => draftOf(shapes, shape.items, item)) }; break;
    case "union": {
      const branch = branchOf(shape.branches, shapes.root, value);
      const of = shape.branches[branch];
      if (of !== undefined) return { branch, of: draftOf(shapes, of, value) };
      break;
    }
    case "object":
      if (isObject(value)) {
        const named = new Map(shape.properties.map((one) => [one.name, one.schema]));
        const drafts = Object.entries(value).map(([key, one]) => ({ key, of: draftOf(shapes, named.get(key) ?? shape.others ?? ANY, one) }));
        return { fields: Object.fromEntries(drafts.filter((one) => named.has(one.key)).map((one) => [one.key, one.of])), more: drafts.filter((one) => !named.has(one.key)) };
      }
      break;
    case "json": break;
  }
  return { json: pretty(value) };
}

/** What a field shows of a slot: nothing of a draft that was made for another schema. */
export function shownOf(shape: Shape, slot: Slot): Slot {
  if (slot === null || "json" in slot) return slot;
  if ("none" in slot) return shape.isNullable ? slot : null;
  switch (shape.kind) {
    case "text": case "number": return "text" in slot ? slot : null;
    case "choice": return "value" in slot && indexOf(shape.choices, slot.value) >= 0 ? slot : null;
    case "object": return "fields" in slot ? slot : null;
    case "list": return "items" in slot ? slot : null;
    case "union": return "branch" in slot && slot.branch in shape.branches ? slot : null;
    case "json": return null;
  }
}

/** The value that a field has without a person: of what must be there and may be one thing only. */
export function constantOf(shape: Shape, isRequired: boolean): { readonly value: Json } | undefined {
  return isRequired && !shape.isNullable && shape.kind === "choice" && shape.choices.length === 1 ? shape.choices[0] : undefined;
}

export function indexOf(choices: readonly { readonly value: Json }[], value: Json): number {
  const text = JSON.stringify(value);
  return choices.findIndex((choice) => JSON.stringify(choice.value) === text);
}

/** The slot of a property. */
export function property(slot: Slot, { name }: Pick<Property, "name">): Slot {
  return slot !== null && "fields" in slot && Object.hasOwn(slot.fields, name) ? (slot.fields[name] ?? null) : null;
}

/** Ids of the fields inside a field. */
export const idOf = {
  property: (id: string, name: string) => `${id}/${escaped(name).replaceAll(/\s/g, (space) => `~s${space.charCodeAt(0)};`)}`, // ids have no spaces
  entry: (id: string, at: number) => `${id}/~=${at}`,
  item: (id: string, at: number) => `${id}/${at}`,
  branch: (id: string) => `${id}~`,
};

/** Read what stands in a form: the value of its schema, undefined where nothing is set. */
export function read(shapes: Shapes, slot: Slot, id: string): Entered {
  const faults = new Map<string, string>();
  const value = valueOf(shapes, shapes.root, slot, true, id, faults);
  return faults.size > 0 ? { ok: false, faults } : { ok: true, value, faults };
}

/** The same of what has to be an object; nothing is one without keys. */
export function asObject(entered: Entered, id: string): Entered<JsonObject> {
  if (!entered.ok) return entered;
  const { value = {} } = entered;
  return isObject(value) ? { ...entered, value } : { ok: false, faults: new Map([[id, texts.call.notObject]]) };
}

/** The same of what has to be something: there is nothing to send before it is, and nothing is wrong. */
export function asSomething(entered: Entered): Entered<Json> {
  if (!entered.ok) return entered;
  const { value } = entered;
  return value === undefined ? { ok: false, faults: entered.faults } : { ...entered, value };
}

/** Read a text as JSON. */
export function readJSON(text: string, id: string): Entered<Json> {
  try {
    return { ok: true, value: parsed(text), faults: new Map() };
  } catch (error) {
    return { ok: false, faults: new Map([[id, notJSON(error)]]) };
  }
}

/** Remove what is sensitive from a document, or write something `instead`; undefined where nothing is left. So is a value in whose place something sensitive should be. */
export function withoutSecrets(value: Json, ways: Ways, instead?: Json): Json | undefined {
  if (ways.length === 0) return value;
  const isList = Array.isArray(value);
  if (isSecret(ways) || !(isList || isObject(value))) return instead;
  const parts = Object.entries(value).flatMap(([step, one]: [string, Json]): [string, Json][] => {
    const left = withoutSecrets(one, inside(ways, step), instead);
    return left === undefined ? [] : [[step, left]];
  });
  return isList ? parts.map(([, one]) => one) : Object.fromEntries(parts);
}

/** The same of what was typed. JSON that cannot be read might have it anywhere, so nothing of that is left. */
export function draftWithoutSecrets(slot: Slot, ways: Ways): Slot {
  if (slot === null || ways.length === 0) return slot;
  if (isSecret(ways)) return null;
  if ("json" in slot) {
    const entered = readJSON(slot.json, "");
    const left = entered.ok ? withoutSecrets(entered.value, ways) : undefined;
    return left === undefined ? null : { json: pretty(left) };
  }
  if ("fields" in slot) {
    const fields = Object.entries(slot.fields).flatMap(([name, one]): [string, Draft][] => {
      const left = draftWithoutSecrets(one, inside(ways, name));
      return left === null ? [] : [[name, left]];
    });
    return { fields: Object.fromEntries(fields), more: slot.more.map((one) => ({ ...one, of: draftWithoutSecrets(one.of, inside(ways, one.key)) })) };
  }
  if ("items" in slot) return { items: slot.items.map((one, at) => draftWithoutSecrets(one, inside(ways, String(at)))) };
  return "branch" in slot ? { ...slot, of: draftWithoutSecrets(slot.of, ways) } : null;
}

function isSecret(ways: Ways): boolean {
  return ways.some((way) => way.length === 0);
}

function inside(ways: Ways, step: string): Ways {
  return ways.filter(([first]) => first === step || first === "*").map((way) => way.slice(1));
}

/** What several forms have together: nothing, where one of them has a fault. */
export function faultsOf(...forms: readonly Entered<unknown>[]): ReadonlyMap<string, string> {
  return new Map(forms.flatMap((one) => [...one.faults]));
}

function valueOf(shapes: Shapes, schema: FormObject, given: Slot, isRequired: boolean, id: string, faults: Map<string, string>): Json | undefined {
  const shape = shapes.of(schema);
  const slot = shownOf(shape, given);
  const wrong = (why: string): Json | undefined => {
    faults.set(id, why);
    return undefined;
  };
  /** What has a place of its own in a list or under a key cannot be left out there. */
  const there = (of: FormObject, inner: Slot, at: string): Json => {
    const before = faults.size;
    const value = valueOf(shapes, of, inner, true, at, faults);
    if (value === undefined && faults.size === before) faults.set(at, texts.form.emptyItem);
    return value ?? null;
  };
  if (slot === null) return constantOf(shape, isRequired)?.value;
  if ("none" in slot) return null;
  if ("value" in slot) return slot.value;
  if ("json" in slot) {
    if (slot.json.trim() === "") return undefined;
    const entered = readJSON(slot.json, id);
    if (entered.ok) return entered.value;
    return wrong(entered.faults.get(id) ?? "");
  }
  if ("text" in slot) {
    if (shape.kind !== "number") return slot.text;
    const text = slot.text.replace(/^[ \n\t]+|[ \n\t]+$/g, ""); // `trim` takes away more, which is not seen
    if (text === "") return undefined;
    if (!/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text)) return wrong(texts.form.notNumber(shown(text)));
    return isExact(text) ? Number(text) : wrong(texts.form.rounded(text));
  }
  if ("items" in slot) return shape.kind === "list" ? slot.items.map((item, at) => there(shape.items, item, idOf.item(id, at))) : undefined;
  if ("branch" in slot) {
    const branch = shape.kind === "union" ? shape.branches[slot.branch] : undefined;
    return branch === undefined ? undefined : valueOf(shapes, branch, slot.of, true, idOf.branch(id), faults);
  }
  if (shape.kind !== "object") return undefined;
  const named = shape.properties.flatMap((one): [string, Json][] => {
    const value = valueOf(shapes, one.schema, property(slot, one), one.isRequired, idOf.property(id, one.name), faults);
    return value === undefined ? [] : [[one.name, value]];
  });
  const keys = new Set(shape.properties.map((one) => one.name));
  const more = slot.more.map((one, at): [string, Json] => {
    const own = idOf.entry(id, at);
    const value = there(shape.others ?? ANY, one.of, own);
    if (keys.has(one.key)) faults.set(own, texts.form.keyTwice(shown(one.key)));
    keys.add(one.key);
    return [one.key, value];
  });
  return Object.fromEntries([...named, ...more]);
}

/** Why a text is no JSON that can be sent as it stands. */
function notJSON(error: unknown): string {
  return `${texts.call.notJSON}: ${shown(error instanceof Error ? error.message : String(error))}`;
}
