/**
 * JSON Schemas as forms read them: references, the branches of unions, and pointers.
 */

/** A JSON value that nobody changes. */
export type FormValue =
  | null
  | boolean
  | number
  | string
  | readonly FormValue[]
  | { readonly [key: string]: FormValue };
/** A JSON object that nobody changes, such as a JSON Schema. */
export type FormObject = Readonly<Record<string, FormValue>>;

/** One document as the libraries take it. */
export interface Form {
  /**
   * JSON Schema that stands alone, and accepts what the schema of the catalog accepts. A union begins with a branch that
   * accepts nothing, so that a form which takes the first one has taken none; what may be left out has no default.
   */
  readonly schema: FormObject;
  /** For react-jsonschema-form; its field `json` is the page's. */
  readonly uiSchema: FormObject;
  /** For JSON Forms; a control with the option `json` is the page's. */
  readonly uischema: FormObject;
}

/** What the first branch of a union is called, of which a person has chosen none. */
export const NOT_CHOSEN = "–";

/** Put the types of a catalog where a schema refers to them (docs/user-interfaces.md, Types). */
export function alone(schema: FormObject, types: FormObject): FormObject {
  const put = (one: FormObject): FormObject => {
    const name = typeof one["$ref"] === "string" ? /^#\/types\/([^/]+)$/.exec(one["$ref"])?.[1] : undefined;
    const type = name === undefined ? undefined : valueAt(types, tokensOf(`/${name}`)[0] ?? "");
    return isObject(type) ? { ...type, ...without(one, "$ref") } : one;
  };
  const whole = put(schema);
  const definitions = entries(whole["$defs"]).map(([name, one]): [string, FormValue] => [name, put(one)]);
  return definitions.length === 0 ? whole : { ...whole, $defs: Object.fromEntries(definitions) };
}

export const MAPS = ["properties", "$defs", "definitions"];
/** Keywords whose schemas are of the same value as the schema that has them. */
export const LISTS = ["oneOf", "anyOf", "allOf"];
const PARTS = ["items", "additionalProperties", "then", "else"];
/** Keywords that say nothing of what is accepted. */
const NOTES = ["title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly", "nullable", "discriminator"];

/** Return a schema with what `change` makes of each schema in it, by the keyword and, of properties, the name. */
export function walked(schema: FormObject, change: (inner: FormValue, keyword: string, name: string) => FormValue): FormObject {
  const parts = Object.entries(schema).map(([key, value]): [string, FormValue] => {
    if (MAPS.includes(key) && isObject(value))
      return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one, key, name)]))];
    if (LISTS.includes(key) && isList(value)) return [key, value.map((one) => change(one, key, ""))];
    return [key, PARTS.includes(key) ? change(value, key, "") : value];
  });
  return Object.fromEntries(parts);
}

/**
 * Return a schema as validators of JSON Schema 2020-12 take it, whichever dialect it names: none is named, a list of `items` is
 * `prefixItems`, a limit that excludes is a number. Of `allOf` with one schema the schema is left, which libraries draw.
 */
export function modern(schema: FormObject, root = schema): FormObject {
  const own: Record<string, FormValue> = walked(without(schema, "$schema"), (inner) => (isObject(inner) ? modern(inner, root) : inner));
  const base = root["$id"];
  if (schema === root) delete own["$id"]; // two forms of one schema would have it
  if (typeof base === "string" && typeof own["$ref"] === "string" && own["$ref"].startsWith(`${base}#`)) own["$ref"] = own["$ref"].slice(base.length);
  if (isList(own["items"])) {
    own["prefixItems"] = own["items"];
    own["items"] = own["additionalItems"] ?? true;
    delete own["additionalItems"];
  }
  for (const [excludes, limit] of [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]] as const) {
    if (typeof own[excludes] !== "boolean") continue;
    const value = own[limit];
    if (own[excludes] && value !== undefined) own[excludes] = value;
    else Reflect.deleteProperty(own, excludes);
  }
  const all = isList(own["allOf"]) ? own["allOf"].filter((one) => one !== true && !(isObject(one) && Object.keys(one).length === 0)) : [];
  const [one] = all;
  const isNoted = Object.keys(own).every((key) => NOTES.includes(key) || MAPS.slice(1).includes(key) || key === "allOf");
  return all.length === 1 && isObject(one) && isNoted ? { ...one, ...without(own, "allOf") } : own;
}

/** Whether it is the branch that accepts nothing. */
export function isNothing(branch: FormObject): boolean {
  return branch["title"] === NOT_CHOSEN && isObject(branch["not"]) && Object.keys(branch["not"]).length === 0;
}

/** Whether people choose between branches; an enumeration of constants is no union. */
export function isUnion(schema: FormObject): boolean {
  const union = schema["oneOf"] ?? schema["anyOf"];
  return isList(union) && union.length > 1 && !union.every((one) => isObject(one) && "const" in one);
}

/** The branches of a union, resolved, without the one that accepts nothing. */
export function branchesOf(schema: FormObject, root: FormObject): readonly FormObject[] {
  const union = schema["oneOf"] ?? schema["anyOf"];
  const branches = isList(union) ? union.filter(isObject) : [];
  return branches.filter((branch) => !isNothing(branch)).map((branch) => resolved(branch, root));
}

/** The constants of a branch, by which it is told from the others. */
export function pinsOf(branch: FormObject): FormObject {
  const pins = entries(branch["properties"]).flatMap(([name, one]): [string, FormValue][] => {
    const value = constantOf(one);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(pins);
}

/** The one value that a schema accepts; undefined where there are others, or none. */
export function constantOf(schema: FormObject): FormValue | undefined {
  return schema["const"] ?? (isList(schema["enum"]) && schema["enum"].length === 1 ? schema["enum"][0] : undefined);
}

const MOST_UNIONS = 4; // inside one another; one that is its own branch has no end

/** The property whose constants tell the branches of a union apart. */
export function tagOf(union: readonly FormObject[]): string | undefined {
  const tags = Object.keys(union[0] === undefined ? {} : pinsOf(union[0]));
  return tags.find((tag) => {
    const values = union.map((branch) => pinsOf(branch)[tag]);
    return values.every((value) => typeof value === "string") && new Set(values).size === values.length;
  });
}

export function titleOf(branch: FormObject, tag: string): string {
  const title = branch["title"] ?? pinsOf(branch)[tag];
  return typeof title === "string" ? title : tag;
}

/** The branch of a union to which a document belongs by its tag: its index in `branchesOf`, -1 for none. */
export function branchOf(schema: FormObject, root: FormObject, document: FormValue): number {
  const union = branchesOf(schema, root);
  const tag = tagOf(union);
  return tag === undefined || !isObject(document) ? -1 : union.findIndex((branch) => pinsOf(branch)[tag] === document[tag]);
}

export function takesNull(schema: FormObject, root: FormObject, depth = 0): boolean {
  const own = resolved(schema, root);
  const union = branchesOf(own, root);
  if (union.length > 0) return depth < MOST_UNIONS && union.some((branch) => takesNull(branch, root, depth + 1));
  if ("const" in own) return own["const"] === null;
  const types = own["type"] === undefined ? ["null"] : [own["type"]].flat();
  return types.includes("null");
}

export function isRequired(schema: FormObject, name: string): boolean {
  return isList(schema["required"]) && schema["required"].includes(name);
}

export function keysOf(schema: FormObject): readonly string[] {
  return entries(schema["properties"]).map(([name]) => name);
}

/** Follow `$ref` by JSON Pointers into `root` (RFC 6901); what stands beside it is kept. A cycle of references ends. */
export function resolved(schema: FormObject, root: FormObject): FormObject {
  let found = schema;
  for (let steps = 0; typeof found["$ref"] === "string" && steps < 32; steps += 1) {
    const target = tokensOf(found["$ref"]).reduce<FormValue | undefined>(valueAt, root);
    const beside = without(found, "$ref");
    if (!isObject(target)) return beside;
    found = { ...target, ...beside };
  }
  return found;
}

export function without(object: FormObject, key: string): FormObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

export function valueAt(value: FormValue | undefined, token: string): FormValue | undefined {
  if (isList(value)) return value[Number(token)];
  return isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

/** The steps of a JSON Pointer, which may follow a `#`. */
export function tokensOf(pointer: string): string[] {
  return pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function escaped(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}

export function entries(value: FormValue | undefined): readonly [string, FormObject][] {
  return isObject(value) ? Object.entries(value).filter((entry): entry is [string, FormObject] => isObject(entry[1])) : [];
}

export function isObject(value: FormValue | undefined): value is FormObject {
  return typeof value === "object" && value !== null && !isList(value);
}

export function isList(value: FormValue | undefined): value is readonly FormValue[] {
  return Array.isArray(value);
}
