/**
 * A part of a catalog as form libraries take it: react-jsonschema-form, JSON Forms, and forms of one's own.
 *
 * Titles, help and order are those of the schema; what a schema cannot say of a form is said here.
 */

import type { AnyCall, Issue } from "./records.js";
import {
  alone,
  branchesOf,
  branchOf,
  entries,
  escaped,
  isList,
  isNothing,
  isObject,
  isRequired,
  isUnion,
  keysOf,
  LISTS,
  MAPS,
  modern,
  NOT_CHOSEN,
  pinsOf,
  resolved,
  tagOf,
  takesNull,
  titleOf,
  tokensOf,
  walked,
  without,
  type Form,
  type FormObject,
  type FormValue,
} from "./schemas.js";
import { Problem } from "./surface.js";

export { controlsOf, typed, type FormControl } from "./controls.js";
export { alone, branchesOf, branchOf, isNothing, NOT_CHOSEN, pinsOf, resolved, tokensOf } from "./schemas.js";
export type { Form, FormObject, FormValue } from "./schemas.js";

/** A part of a tool, such as its `payload`; or the `answer_schema` of a wait as `schema`. */
export interface FormSource {
  readonly schema: FormObject;
  readonly sensitive?: readonly string[];
  readonly noted_formats?: readonly string[];
}

/** Make the form of a part of a catalog, such as `tool.payload`; `catalog` has the types that the part may refer to. */
export function formOf(part: FormSource | FormValue | undefined, catalog: { readonly types?: FormObject | undefined } = {}): Form {
  const source = (part ?? { schema: {} }) as FormSource;
  const schema = unchosen(modern(checked(alone(source.schema, catalog.types ?? {}), source.noted_formats ?? [])));
  const secrets = (source.sensitive ?? []).map(tokensOf);
  const place = placeOf(schema, secrets);
  const definitions = ["$defs", "definitions"].flatMap((key) =>
    entries(schema[key]).map(([name, one]): [string, FormObject] => [`#/${key}/${escaped(name)}`, hints(one, placeOf(schema))]),
  );
  const uiSchema = {
    "ui:globalOptions": { enableOptionalDataFieldForType: ["object"] }, // one is absent until somebody adds it
    ...hints(schema, place),
    "ui:definitions": Object.fromEntries(definitions),
  };
  return { schema: undefaulted(schema, schema), uiSchema, uischema: layout("#", schema, placeOf(schema, secrets)) };
}

/**
 * Return a document that came from elsewhere as the server takes it: null for an optional property is none. Where a union has
 * another tag than `before`, the properties of the branch that it had are gone. What needs no change is returned as it is.
 */
export function settled(schema: FormObject, document: FormValue, before?: FormValue, root = schema): FormValue {
  const whole = resolved(schema, root);
  const union = branchesOf(whole, root);
  const own = union[branchOf(whole, root, document)] ?? whole;
  if (isList(document)) {
    const items = own["items"];
    const kept = isObject(items) ? document.map((item) => settled(items, item, undefined, root)) : document;
    return kept.every((item, at) => item === document[at]) ? document : kept;
  }
  if (!isObject(document)) return document;
  const was = isObject(before) ? before : {};
  const left = union[branchOf(whole, root, was)] ?? {};
  const gone = keysOf(left).filter((name) => !keysOf(own).includes(name));
  const properties = isObject(own["properties"]) ? own["properties"] : {};
  const kept = Object.entries(document).flatMap(([name, value]): [string, FormValue][] => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : own["additionalProperties"];
    if (gone.includes(name)) return [];
    if (!isObject(inner)) return [[name, value]];
    if (value === null && Object.hasOwn(properties, name) && !isRequired(own, name) && !takesNull(inner, root)) return [];
    return [[name, settled(inner, value, was[name], root)]];
  });
  const isSame = kept.length === Object.keys(document).length && kept.every(([name, value]) => value === document[name]);
  return isSame ? document : Object.fromEntries(kept);
}

/** Wait for a call, and return what a page says of it, with the issues of the server: its status, or why there is none. */
export async function saidOf(call: Promise<AnyCall>): Promise<{ readonly said: string; readonly issues: readonly Issue[] }> {
  try {
    const made = await call;
    return { said: made.status, issues: made.status === "error" ? (made.error.issues ?? []) : [] };
  } catch (error) {
    return { said: error instanceof Error ? error.message : String(error), issues: error instanceof Problem ? error.issues : [] };
  }
}

/** Whether no input of a form is marked as wrong (`setCustomValidity`); the first one that is says why. */
export function isReady(form: Element): boolean {
  const inputs = Array.from(form.querySelectorAll<HTMLInputElement>("input, select, textarea"));
  return inputs.every((input) => !input.validity.customError || input.reportValidity());
}

/** What an issue of the server is in `extraErrors` of react-jsonschema-form. */
export interface FormErrors {
  __errors?: string[];
  [key: string]: FormErrors | string[] | undefined;
}

/** Put the issues of the server at their fields. */
export function errorsOf(issues: readonly Pick<Issue, "pointer" | "message">[]): FormErrors {
  const none = () => Object.create(null) as FormErrors; // a name such as "__proto__" is one of a field here
  const root = none();
  for (const issue of issues) {
    let place = root;
    for (const token of tokensOf(issue.pointer)) place = (place[token] ??= none()) as FormErrors;
    (place.__errors ??= []).push(issue.message);
  }
  return root;
}

const DATE = /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$/;
const DATETIME =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/;
const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/**
 * The formats that the server checks, as it does; those of a validator differ, such as in an instant without an offset. The others
 * have a `pattern` beside them, and `uri` is left to the server.
 */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => DATE.test(text) && isDay(text),
  "date-time": (text) => DATETIME.test(text) && isDay(text),
  uuid: (text) => UUID.test(text),
  ...Object.fromEntries(["email", "hostname", "ipv4", "ipv6", "uri"].map((name) => [name, () => true])),
};

function isDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split("-").map(Number);
  return year > 0 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/** What a text of a format looks like, for an empty field. */
export const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ["date-time", "2026-01-28T09:30:00+01:00"],
  ["date", "2026-01-28"],
  ["time", "09:30:00Z"],
  ["duration", "PT15M"],
  ["uuid", "3f2c1a9e-…"],
  ["uri", "https://…"],
  ["email", "name@example.org"],
]);

/** Return a schema without the formats that nobody checks: they are notes. */
function checked(schema: FormObject, pointers: readonly string[]): FormObject {
  const cut = (value: FormValue, [token = "", ...more]: readonly string[]): FormValue => {
    if (isList(value)) return value.map((item, at) => (String(at) === token ? cut(item, more) : item));
    if (!isObject(value)) return value;
    if (more.length === 0) return without(value, token);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, key === token ? cut(one, more) : one]));
  };
  return pointers.reduce<FormObject>((left, pointer) => cut(left, tokensOf(pointer)) as FormObject, schema);
}

/** Return a schema whose unions begin with a branch that accepts nothing. */
function unchosen(schema: FormObject, root = schema): FormObject {
  const whole = walked(schema, (inner, keyword, name) => {
    const one = isObject(inner) ? unchosen(inner, root) : inner;
    return MAPS.includes(keyword) ? named(name, one) : one;
  });
  const key = "oneOf" in schema ? "oneOf" : "anyOf";
  return isUnion(schema) && isList(whole[key]) ? { ...whole, [key]: [nothing(schema, root), ...whole[key]] } : whole;
}

/**
 * Return a schema without the defaults of what may be left out: the server knows them, and a form shall send what was set. `isThere`
 * says that no object around it may be left out, and `keeps` that it is of a property that may not.
 */
function undefaulted(schema: FormObject, root: FormObject, isThere = true, keeps = false): FormObject {
  const own = walked(schema, (inner, keyword, name) => {
    if (!isObject(inner)) return inner;
    if (LISTS.includes(keyword)) return undefaulted(inner, root, isThere, keeps);
    const isKept = keyword === "properties" && isThere && isRequired(schema, name);
    return undefaulted(inner, root, isKept || keyword !== "properties", isKept);
  });
  const value = keeps ? resolved(schema, root)["default"] : undefined;
  return value === undefined ? without(own, "default") : { ...own, default: value };
}

/** Libraries draw no field for a schema that says nothing. */
function named(name: string, schema: FormValue): FormValue {
  return schema === true || (isObject(schema) && Object.keys(schema).length === 0) ? { title: name } : schema;
}

/** The branch that accepts nothing; it describes the tag, by which JSON Forms chooses. */
function nothing(schema: FormObject, root: FormObject): FormObject {
  const union = branchesOf(schema, root);
  const tag = tagOf(union);
  if (tag === undefined) return { title: NOT_CHOSEN, not: {}, properties: {} }; // which libraries draw as an object without fields
  const choices = union.map((branch) => ({ const: pinsOf(branch)[tag] ?? null, title: titleOf(branch, tag) }));
  return { title: NOT_CHOSEN, not: {}, properties: { [tag]: { type: "string", title: tag, oneOf: choices } } };
}

/** Where a walk through a schema stands. */
interface Place {
  readonly root: FormObject;
  /** Pointers to what is sensitive, from here. */
  readonly secrets: readonly (readonly string[])[];
  /** The references that led here. */
  readonly inside: readonly FormValue[];
  /** How many schemas may still be read: types that name one another often stand for more than anybody draws. */
  readonly room: { left: number };
}

const MOST_READ = 5_000;

function placeOf(root: FormObject, secrets: readonly (readonly string[])[] = []): Place {
  return { root, secrets, inside: [], room: { left: MOST_READ } };
}

/** The place of a property or an item. */
function within(place: Place, name: string): Place {
  return { ...place, secrets: place.secrets.filter(([first]) => first === name).map((way) => way.slice(1)) };
}

/** The place behind a reference; undefined where it leads back, or there are too many. */
function behind(place: Place, schema: FormObject): Place | undefined {
  const reference = schema["$ref"];
  place.room.left -= 1;
  if (place.room.left < 0 || (reference !== undefined && place.inside.includes(reference))) return undefined;
  return reference === undefined ? place : { ...place, inside: [...place.inside, reference] };
}

/** What the schemas of a document are at a place, for react-jsonschema-form. */
function hints(schema: FormObject, from: Place): FormObject {
  const place = behind(from, schema);
  if (place === undefined) return {};
  const { root, secrets } = place;
  const own = secrets.length > 0 ? resolved(schema, root) : schema;
  if (isNothing(own)) return Object.fromEntries(keysOf(own).map((name) => [name, { "ui:widget": "hidden" }]));
  if (isFree(own)) return { "ui:field": "json", "ui:fieldReplacesAnyOrOneOf": true };
  const ui: [string, FormValue][] = [];
  const add = (key: string, value: FormObject) => {
    if (Object.keys(value).length > 0) ui.push([key, value]);
  };
  for (const one of isList(own["allOf"]) ? own["allOf"] : []) if (isObject(one)) ui.push(...Object.entries(hints(one, place)));
  const format = typeof own["format"] === "string" ? own["format"] : "";
  if (secrets.some((way) => way.length === 0)) ui.push(["ui:widget", "password"]);
  else if (format === "date-time" || format === "time") ui.push(["ui:widget", "text"]); // a picker loses the offset
  else if (own["type"] === "boolean" && !("const" in own || "enum" in own)) ui.push(["ui:widget", "radio"]);
  const example = EXAMPLES.get(format);
  if (example !== undefined) ui.push(["ui:placeholder", example]);
  for (const [name, one] of entries(own["properties"])) {
    const value = isRequired(own, name) ? undefined : resolved(one, root)["default"];
    const help: FormObject = value === undefined ? {} : { "ui:help": `Without it: ${JSON.stringify(value)}` };
    if (!name.startsWith("ui:")) add(name, { ...hints(one, within(place, name)), ...help }); // it would be a hint
  }
  for (const key of ["items", "additionalProperties"]) {
    const inner = own[key] === true && key === "additionalProperties" ? { title: "" } : own[key];
    if (isObject(inner)) add(key, hints(inner, within(place, "*")));
  }
  for (const key of ["oneOf", "anyOf"]) {
    const union = own[key];
    if (!isUnion(own) || !isList(union)) continue;
    const branches = union.map((branch) => {
      if (!isObject(branch)) return {};
      const whole = resolved(branch, root); // what says which branch it is, nobody fills in
      const pins = entries(isNothing(branch) ? {} : whole["properties"]).flatMap(([name, one]) => ("const" in one && isRequired(whole, name) ? [name] : []));
      return { ...hints(branch, place), ...Object.fromEntries(pins.map((name) => [name, { "ui:widget": "hidden" }])) };
    });
    ui.push([key, branches]);
  }
  return Object.fromEntries(ui);
}

/** Whether a form has nothing to show for a schema: any value, a map or a list of any values, a tuple. */
function isFree(schema: FormObject): boolean {
  if (["$ref", "enum", "const", "oneOf", "anyOf", "allOf"].some((key) => key in schema)) return false;
  const type = schema["type"] ?? (isObject(schema["properties"]) ? "object" : undefined);
  if (type === undefined || isList(type)) return true;
  if (type === "object")
    return "patternProperties" in schema || !(isObject(schema["properties"]) || says(schema["additionalProperties"]));
  return type === "array" && ("prefixItems" in schema || !says(schema["items"]));
}

function says(schema: FormValue | undefined): boolean {
  return isObject(schema) && Object.keys(schema).some((key) => key !== "title" && key !== "description");
}

/** The controls of JSON Forms for the schema at `scope`. */
function layout(scope: string, schema: FormObject, from: Place): FormObject {
  const json = { type: "Control", scope, options: { json: true } };
  const place = behind(from, schema);
  if (place === undefined) return json;
  const own = resolved(schema, place.root);
  if (isFree(own) || "allOf" in own) return json;
  if (isUnion(own)) return choices(scope, own, place) ?? json;
  if (isObject(own["properties"])) return group(scope, own, fields(scope, own, place)) ?? json;
  if (own["type"] === "object") return json;
  if (own["type"] === "array") {
    const items = isObject(own["items"]) ? resolved(own["items"], place.root) : {};
    const isPlain = ["string", "integer", "number"].some((type) => type === items["type"]) && !("const" in items);
    return isPlain ? { type: "Control", scope } : json;
  }
  const options: Record<string, FormValue> = {};
  const example = EXAMPLES.get(typeof own["format"] === "string" ? own["format"] : "");
  if (place.secrets.some((way) => way.length === 0)) options["format"] = "password";
  if (example !== undefined) options["placeholder"] = example;
  return { type: "Control", scope, options };
}

function group(scope: string, schema: FormObject, elements: readonly FormValue[] | undefined): FormObject | undefined {
  if (elements === undefined) return undefined;
  return scope === "#" ? { type: "VerticalLayout", elements } : { type: "Group", label: schema["title"] ?? tokensOf(scope.slice(scope.lastIndexOf("/")))[0] ?? "", elements };
}

/** The controls of the properties of an object; undefined where a name has a dot or a bracket, which JSON Forms takes for a path. */
function fields(scope: string, schema: FormObject, place: Place, except = ""): readonly FormObject[] | undefined {
  const properties = entries(schema["properties"]);
  if (properties.some(([name]) => /[.[\]]/.test(name))) return undefined;
  return properties
    .filter(([name]) => name !== except)
    .map(([name, one]) => layout(`${scope}/properties/${escaped(name)}`, one, within(place, name)));
}

/** The choice of a tag, and the properties of each branch, shown with its tag; undefined where JSON Forms can do neither. */
function choices(scope: string, schema: FormObject, place: Place): FormObject | undefined {
  const key = "oneOf" in schema ? "oneOf" : "anyOf";
  const tag = tagOf(branchesOf(schema, place.root));
  const union = schema[key];
  if (tag === undefined || !isList(union)) return undefined;
  const choice = { type: "Control", scope: `${scope}/properties/${escaped(tag)}` };
  const shown: FormObject[] = [];
  for (const [at, one] of union.entries()) {
    if (!isObject(one) || isNothing(one)) continue;
    const branch = resolved(one, place.root);
    const inner = behind(place, one);
    const elements = inner && fields(`${scope}/${key}/${String(at)}`, branch, inner, tag);
    if (elements === undefined) return undefined;
    const condition = { scope: choice.scope, failWhenUndefined: true, schema: { const: pinsOf(branch)[tag] ?? null } };
    shown.push({ type: "VerticalLayout", elements, rule: { effect: "SHOW", condition } });
  }
  return group(scope, schema, [choice, ...shown]);
}
