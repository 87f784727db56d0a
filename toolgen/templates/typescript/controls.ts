/**
 * A form as a list of inputs, for pages without a library.
 *
 * A page keeps the document that it was filled with; an input that somebody changes changes its place there, and nothing else.
 */

import { constantOf, escaped, isList, isObject, resolved, tokensOf, valueAt, type Form, type FormObject, type FormValue } from "./schemas.js";

/** One input. */
export interface FormControl {
  /** JSON Pointer of its value. */
  readonly pointer: string;
  readonly title: string;
  readonly help: string;
  readonly placeholder: string;
  readonly kind: "text" | "password" | "number" | "choice" | "json";
  /** What it has in the document, as a text: of a choice and of JSON, the JSON; "" for nothing. */
  readonly text: string;
  /** Of a choice, each with its text; the first is that nothing is chosen. */
  readonly choices: readonly { readonly title: string; readonly text: string }[];
}

/** The inputs of a form for a document, in order: of a union those of the branch whose tag the document has. */
export function controlsOf(form: Form, document: FormValue): readonly FormControl[] {
  const inputs = (element: FormObject, titles: readonly string[]): readonly FormControl[] => {
    const condition = isObject(element["rule"]) ? element["rule"]["condition"] : undefined;
    if (isObject(condition) && isObject(condition["schema"]) && at(document, stepsOf(condition["scope"])) !== condition["schema"]["const"]) return [];
    if (!isList(element["elements"])) return [control(form.schema, element, document, titles)];
    const [first] = element["elements"];
    const elements = element["elements"].filter(isObject);
    const label = typeof element["label"] === "string" ? [...titles, element["label"]] : titles;
    if (element["elements"].length > 1 && isObject(element["elements"][1]) && "rule" in element["elements"][1] && isObject(first)) {
      const choice = control(form.schema, first, document, titles);
      return [{ ...choice, title: label.at(-1) ?? choice.title }, ...elements.slice(1).flatMap((one) => inputs(one, titles))];
    }
    return elements.flatMap((one) => inputs(one, label));
  };
  return inputs(form.uischema, []);
}

/**
 * Return a document with what somebody typed into one of its inputs; without a text, without its value.
 *
 * @throws SyntaxError: the input takes JSON, and this is none.
 */
export function typed(document: FormValue, { pointer, kind }: FormControl, text: string): FormValue {
  const value = kind === "choice" || kind === "json" ? (text.trim() === "" ? undefined : (JSON.parse(text) as FormValue)) : text === "" ? undefined : text;
  const isNumber = kind === "number" && value !== undefined && text.trim() !== "" && Number.isFinite(Number(text));
  return put(document, tokensOf(pointer), isNumber ? Number(text) : value) ?? {};
}

function put(document: FormValue | undefined, [name, ...more]: readonly string[], value: FormValue | undefined): FormValue | undefined {
  if (name === undefined) return value;
  const others = Object.entries(isObject(document) ? document : {}).filter(([key]) => key !== name);
  const inner = put(at(document, [name]), more, value);
  if (inner === undefined) return others.length > 0 || more.length === 0 ? Object.fromEntries(others) : undefined;
  return Object.fromEntries([...others, [name, inner]]);
}

function control(root: FormObject, element: FormObject, document: FormValue, titles: readonly string[]): FormControl {
  const options = isObject(element["options"]) ? element["options"] : {};
  const steps = stepsOf(element["scope"]);
  const own = resolved(schemaAt(root, element["scope"]), root);
  const choices = options["json"] === true ? [] : choicesOf(own);
  const isNumber = own["type"] === "integer" || own["type"] === "number";
  const kind =
    choices.length > 0 ? "choice" : options["json"] === true || !(isNumber || own["type"] === "string") ? "json" : isNumber ? "number" : options["format"] === "password" ? "password" : "text";
  const value = at(document, steps);
  const isText = typeof value === "string" && (kind === "text" || kind === "password" || kind === "number");
  return {
    pointer: steps.map((step) => `/${escaped(step)}`).join(""),
    title: [...titles, said(own["title"]) || (steps.at(-1) ?? "")].join(" › "),
    help: said(own["description"]),
    placeholder: said(options["placeholder"]),
    kind,
    text: value === undefined ? "" : isText ? value : JSON.stringify(value),
    choices: choices.length > 0 ? [{ title: "–", text: "" }, ...choices.map(([title, one]) => ({ title, text: JSON.stringify(one) }))] : [],
  };
}

function wordOf(value: FormValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function choicesOf(schema: FormObject): readonly (readonly [string, FormValue])[] {
  const one = constantOf(schema);
  const values = isList(schema["enum"]) ? schema["enum"] : schema["type"] === "boolean" ? [true, false] : [];
  if (one !== undefined) return [[wordOf(one), one]];
  if (values.length > 0) return values.map((value) => [wordOf(value), value]);
  const union = schema["oneOf"] ?? schema["anyOf"];
  const branches = isList(union) ? union.filter(isObject) : [];
  return branches.flatMap((branch): [string, FormValue][] => (branch["const"] === undefined ? [] : [[said(branch["title"]) || wordOf(branch["const"]), branch["const"]]]));
}

/** The schema at a scope of JSON Forms; of a union's tag, that of the branch which lists them. */
function schemaAt(root: FormObject, scope: FormValue | undefined): FormObject {
  const found = tokensOf(said(scope)).reduce<FormValue | undefined>((place, token) => {
    const own = isObject(place) ? resolved(place, root) : place;
    if (token !== "properties" || !isObject(own) || token in own) return valueAt(own, token);
    return valueAt(valueAt(own["oneOf"] ?? own["anyOf"], "0"), token);
  }, root);
  return isObject(found) ? found : {};
}

/** The names of the properties that a scope goes through. */
function stepsOf(scope: FormValue | undefined): readonly string[] {
  const tokens = tokensOf(said(scope));
  return tokens.flatMap((token, index) => (tokens[index - 1] === "properties" ? [token] : []));
}

function at(value: FormValue | undefined, steps: readonly string[]): FormValue | undefined {
  return steps.reduce<FormValue | undefined>((inner, step) => (isObject(inner) ? valueAt(inner, step) : undefined), value);
}

function said(value: FormValue | undefined): string {
  return typeof value === "string" ? value : "";
}
