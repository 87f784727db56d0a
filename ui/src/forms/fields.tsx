/** Fields of a form. None has a state of its own: each shows a slot of the form's draft, and says what it would be instead. */

import type { ReactNode } from "react";
import { EXAMPLES, type FormObject } from "../../../toolgen/templates/typescript/forms";
import { isPlain, shown, shownLines, visibleSource } from "../kit/escape";
import { Segmented } from "../kit/segmented";
import { Tag } from "../kit/small";
import { parsed } from "../kit/exact";
import { compact, pretty } from "../kit/values";
import { texts } from "../texts";
import { ANY, constantOf, draftOf, idOf, indexOf, property, shownOf, startOf, type Slot } from "./draft";
import { limitWords } from "./schema";
import { titlesOf, type Property, type Shape, type Shapes } from "./shape";

const SIDE_BY_SIDE = 4; // choices, and characters of them in all
const CHARACTERS = 48;

/** An issue of the server, by the steps that lead to its field from here. */
export interface Placed { readonly steps: readonly string[]; readonly message: string }
/** What a field is, wherever it stands. */
export interface Place {
  readonly shapes: Shapes;
  readonly schema: FormObject;
  readonly slot: Slot;
  readonly set: (slot: Slot) => void;
  readonly id: string;
  readonly isRequired: boolean;
  readonly faults: ReadonlyMap<string, string>;
  readonly issues: readonly Placed[];
  /** The ways to what is sensitive, from here; `*` is every item and every key. */
  readonly secrets: readonly (readonly string[])[];
  readonly disabled: boolean;
}

/** A label, a line of help, the input and what is wrong with it; without a label inside another field. */
export function Field({ label, name, placeholder, children, ...place }: Place & { readonly label?: ReactNode; readonly name?: string; readonly placeholder?: string; readonly children?: ReactNode }) {
  const { shapes, schema, id, isRequired, faults, issues } = place;
  const shape = shapes.of(schema);
  const slot = shownOf(shape, place.slot);
  const fault = faults.get(id);
  const own = issues.filter((issue) => !isInside(shape, slot, issue));
  const isInput = slot === null || !("none" in slot) ? shape.kind === "text" || shape.kind === "number" || shape.kind === "json" || (slot !== null && "json" in slot) : false;
  const { description, default: other } = shape.schema;
  const words = typeof description === "string" ? shownLines(description) : "";
  const limits = [...limitWords(shape.schema).map(shown), ...(isRequired || other === undefined ? [] : [texts.form.without(compact(other))])];
  const heading = <>{label}{!isRequired && <span className="muted small"> {texts.optional}</span>}</>;
  return (
    <div className="field" data-kind={slot !== null && "json" in slot ? "json" : shape.kind} data-id={id}>
      {label !== undefined && (isInput ? <label className="label" htmlFor={id}>{heading}</label> : <div className="label">{heading}</div>)}
      {label !== undefined && words + limits.join("") !== "" && (
        <div className="help" id={`${id}__description`}>{words !== "" && <p className="shown">{words}</p>}{limits.map((limit) => <span key={limit} className="limit">{limit}</span>)}</div>
      )}
      {children}
      <Control {...place} slot={slot} shape={shape} title={name ?? (typeof label === "string" ? label : titleOf(shape))} isLabelled={label !== undefined} placeholder={placeholder ?? exampleOf(shape)} />
      <div id={`${id}__issues`}>
        {fault !== undefined && <p className="issue fault">{fault}</p>}
        {own.map((issue, at) => <p key={at} className="issue">{shown(issue.message)}</p>)}
      </div>
    </div>
  );
}

function titleOf(shape: Shape): string {
  const { title } = shape.schema;
  return typeof title === "string" ? shown(title) : texts.call.json;
}

function exampleOf({ schema: { format } }: Shape): string | undefined {
  return typeof format === "string" ? EXAMPLES.get(format) : undefined;
}

/** Whether an issue stands at a field that is shown inside. */
function isInside(shape: Shape, slot: Slot, { steps: [step] }: Placed): boolean {
  if (step === undefined || slot === null) return false;
  if ("branch" in slot) return true;
  if ("items" in slot) return Number(step) < slot.items.length;
  if (!("fields" in slot)) return false;
  return (shape.kind === "object" && shape.properties.some((one) => one.name === step)) || slot.more.some((one) => one.key === step);
}

interface Shown extends Place { readonly shape: Shape; readonly title: string; readonly isLabelled: boolean; readonly placeholder: string | undefined }

function Control(props: Shown) {
  const { shape, slot, set, isRequired, disabled } = props;
  const isNone = slot !== null && "none" in slot;
  const mayBeUnset = slot !== null && !isNone && !isRequired && !("text" in slot);
  const unset = mayBeUnset && <button type="button" className="plain muted" disabled={disabled} onClick={() => { set(null); }}>{texts.remove}</button>;
  const none = shape.isNullable && (
    <label className="none small"><input type="checkbox" disabled={disabled} checked={isNone} aria-label={`${props.title}: ${texts.form.null}`} onChange={(event) => { set(event.target.checked ? { none: true } : null); }} /> {texts.form.null} <code>null</code></label>
  );
  return (
    <>
      {!isNone && <Inner {...props} />}
      {(none !== false || unset !== false) && <div className="row">{none}{unset}</div>}
    </>
  );
}

function Inner(props: Shown): ReactNode {
  const { shape, slot } = props;
  if (slot !== null && "json" in slot) return <JSONText {...props} json={slot.json} />;
  switch (shape.kind) {
    case "json": return <JSONText {...props} json="" />;
    case "text": case "number": return <Text {...props} />;
    case "choice": return <Choice {...props} shape={shape} />;
    case "object": return <Fields {...props} shape={shape} />;
    case "list": return <Items {...props} shape={shape} />;
    case "union": return <Union {...props} shape={shape} />;
  }
}

function attributesOf({ id, title, isLabelled, disabled, isRequired, faults, issues }: Omit<Shown, "slot" | "set" | "shape">) {
  return { id, "aria-label": isLabelled ? undefined : title, disabled, "aria-required": isRequired, "aria-invalid": faults.has(id) || issues.length > 0, "aria-describedby": `${id}__description ${id}__issues` };
}

/** A text as it is typed, or a number: nothing is typed where it is empty. A text that hides something can be read here, and changed as JSON. */
function Text(props: Shown & { readonly slot: Slot }) {
  const { shape, slot, set, secrets, disabled } = props;
  const text = slot !== null && "text" in slot ? slot.text : "";
  const change = (next: string) => { set(next === "" ? null : { text: next }); };
  const isSecret = secrets.some((way) => way.length === 0);
  if (!isPlain(text)) {
    return (
      <div className="row">
        <output id={props.id} className="hides" aria-label={props.title} aria-describedby={`${props.id}__hides`}>{isSecret ? texts.hidden : shownLines(text)}</output>
        <button type="button" disabled={disabled} onClick={() => { set({ json: pretty(text) }); }}>{texts.form.asJSON}</button>
        <button type="button" className="plain muted" disabled={disabled} onClick={() => { set(null); }}>{texts.remove}</button>
        <p className="help" id={`${props.id}__hides`}>{texts.form.hides}</p>
      </div>
    );
  }
  const shared = { ...attributesOf(props), value: text, placeholder: props.placeholder, spellCheck: false };
  const isEmpty = slot !== null && text === "";
  return (
    <>
      {(shape.kind === "text" && shape.isLong) || text.includes("\n")
        ? <textarea {...shared} rows={4} onChange={(event) => { change(event.target.value); }} />
        : <input {...shared} type={isSecret ? "password" : "text"} inputMode={shape.kind === "number" ? "decimal" : undefined} autoComplete="off" onChange={(event) => { change(event.target.value); }} />}
      {isEmpty && <div className="row"><Tag>{texts.form.emptyText}</Tag><button type="button" className="plain muted" disabled={disabled} onClick={() => { set(null); }}>{texts.remove}</button></div>}
    </>
  );
}

/** JSON at a place: of what no field can show, or of a field that a person edits so. */
function JSONText({ json, ...props }: Shown & { readonly json: string }) {
  const { shape, shapes, schema, set, faults, id, disabled } = props;
  const isField = shape.kind !== "json" && !faults.has(id) && json.trim() !== "";
  return (
    <>
      <textarea {...attributesOf(props)} className="code" rows={Math.min(12, json.split("\n").length + 1)} value={json} spellCheck={false} placeholder={texts.call.json}
        onChange={(event) => { set(event.target.value === "" ? null : { json: visibleSource(event.target.value) }); }} />
      {isField && <button type="button" className="plain small" disabled={disabled} onClick={() => { set(draftOf(shapes, schema, parsed(json))); }}>{texts.form.asField}</button>}
    </>
  );
}

function Choice({ shape, slot, set, ...props }: Shown & { readonly shape: Extract<Shape, { kind: "choice" }> }) {
  const { choices } = shape;
  const constant = constantOf(shape, props.isRequired);
  if (constant !== undefined) return <code className="constant">{pretty(constant.value)}</code>;
  const chosen = slot !== null && "value" in slot ? indexOf(choices, slot.value) : -1;
  const titles = choices.map((choice) => shown(choice.title));
  const choose = (at: number) => {
    const choice = choices[at];
    set(choice === undefined ? null : { value: choice.value });
  };
  if (choices.length <= SIDE_BY_SIDE && titles.join("").length <= CHARACTERS) return <Segmented label={props.title} choices={titles} chosen={chosen} choose={choose} disabled={props.disabled} />;
  return (
    <select {...attributesOf(props)} aria-label={props.title} value={chosen} onChange={(event) => { choose(Number(event.target.value)); }}>
      <option value={-1}>{texts.unset}</option>
      {titles.map((one, at) => <option key={at} value={at}>{one.replaceAll(/ (?= )|^ | $/g, "\\u0020")}</option>)}
    </select>
  );
}

/** The fields of an object, and its other keys; one that may be left out is not there until a person adds it. */
function Fields({ shape, slot, set, ...place }: Shown & { readonly shape: Extract<Shape, { kind: "object" }> }) {
  const { shapes, schema, id, disabled } = place;
  const isMap = shape.properties.length === 0 && shape.others !== null;
  if (slot === null || !("fields" in slot)) {
    const start = startOf(shapes, schema, true) ?? { fields: {}, more: isMap ? [{ key: "", of: null }] : [] };
    return <button type="button" id={id} disabled={disabled} onClick={() => { set(start); }}>{isMap ? texts.form.addKey : texts.form.add}</button>;
  }
  const { fields, more } = slot;
  const setMore = (next: typeof more) => { set({ fields, more: next }); };
  const setField = (name: string, inner: Slot) => {
    const others = Object.entries(fields).filter(([key]) => key !== name);
    set({ fields: Object.fromEntries(inner === null ? others : [...others, [name, inner]]), more });
  };
  const changed = (at: number, change: Partial<(typeof more)[number]>) => { setMore(more.map((one, index) => (index === at ? { ...one, ...change } : one))); };
  return (
    <fieldset>
      <legend className="hidden-text">{place.title}</legend>
      {shape.properties.map((one) => (
        <Field key={one.name} {...inside(place, one.name)} schema={one.schema} slot={property(slot, one)} set={(inner) => { setField(one.name, inner); }}
          id={idOf.property(id, one.name)} isRequired={one.isRequired} {...labelsOf(shapes, shape.properties, one)} />
      ))}
      {more.map((one, at) => (
        <Field key={at} {...inside(place, one.key, "*")} schema={shape.others ?? ANY} slot={one.of} set={(inner) => { changed(at, { of: inner }); }} id={idOf.entry(id, at)} isRequired name={shown(one.key)}>
          <div className="row">
            {isPlain(one.key) && !/[\n\t]/.test(one.key)
              ? <input className="key" aria-label={texts.form.key} disabled={disabled} value={one.key} autoComplete="off" onChange={(event) => { changed(at, { key: event.target.value }); }} />
              : <output className="key hides" aria-label={texts.form.key}>{shown(one.key)}</output>}
            <button type="button" className="plain" disabled={disabled} aria-label={texts.form.remove(shown(one.key))} onClick={() => { setMore(more.filter((_, index) => index !== at)); }}>✕</button>
          </div>
        </Field>
      ))}
      {isMap && more.length === 0 && <p className="muted small">{texts.form.emptyMap}</p>}
      {shape.others !== null && <button type="button" disabled={disabled} onClick={() => { setMore([...more, { key: "", of: startOf(shapes, shape.others ?? ANY) }]); }}>{texts.form.addKey}</button>}
    </fieldset>
  );
}

function Items({ shape, slot, set, ...place }: Shown & { readonly shape: Extract<Shape, { kind: "list" }> }) {
  const { shapes, id, disabled } = place;
  const items = slot !== null && "items" in slot ? slot.items : [];
  return (
    <fieldset>
      <legend className="hidden-text">{place.title}</legend>
      {items.map((item, at) => (
        <div key={at} className="item">
          <div className="grow"><Field {...inside(place, String(at), "*")} schema={shape.items} slot={item} set={(inner) => { set({ items: items.map((one, index) => (index === at ? inner : one)) }); }} id={idOf.item(id, at)} isRequired name={texts.form.item(place.title, at + 1)} /></div>
          <button type="button" className="plain" disabled={disabled} aria-label={texts.form.removeItem(at + 1)} onClick={() => { set({ items: items.filter((_, index) => index !== at) }); }}>✕</button>
        </div>
      ))}
      {slot !== null && items.length === 0 && <p className="muted small">{texts.form.emptyList}</p>}
      <button type="button" disabled={disabled} onClick={() => { set({ items: [...items, startOf(shapes, shape.items)] }); }}>{texts.form.addItem}</button>
    </fieldset>
  );
}

/** The branches side by side; none is chosen until a person does. */
function Union({ shape, slot, set, placeholder: _, ...place }: Shown & { readonly shape: Extract<Shape, { kind: "union" }> }) {
  const chosen = slot !== null && "branch" in slot ? slot : undefined;
  const branch = chosen === undefined ? undefined : shape.branches[chosen.branch];
  const choose = (at: number) => {
    const of = shape.branches[at];
    if (of !== undefined) set({ branch: at, of: startOf(place.shapes, of) });
  };
  return (
    <div className="union">
      <Segmented label={place.title} choices={titlesOf(shape.branches).map(shown)} chosen={chosen?.branch ?? -1} choose={choose} disabled={place.disabled} />
      {chosen !== undefined && branch !== undefined && <Field key={chosen.branch} {...place} issues={place.issues.filter((issue) => issue.steps.length > 0)} schema={branch} slot={chosen.of} set={(inner) => { set({ branch: chosen.branch, of: inner }); }} id={idOf.branch(place.id)} isRequired name={place.title} />}
    </div>
  );
}

/** What a property is called: its title, with its name where another one could be meant. */
function labelsOf(shapes: Shapes, properties: readonly Property[], { name, schema }: Property): { readonly label: ReactNode; readonly name: string } {
  const calledOf = (one: Property) => { const { title } = shapes.of(one.schema).schema; return typeof title === "string" ? title : one.name; };
  const title = calledOf({ name, schema, isRequired: false });
  const isOther = properties.some((one) => one.name !== name && (one.name === title || calledOf(one) === title));
  return isOther && title !== name ? { label: <>{shown(title)} <code>{shown(name)}</code></>, name: `${shown(title)} ${shown(name)}` } : { label: shown(title), name: shown(title) };
}

/** What a field inside another one shares with it, at a step that a secret may call `*`. */
function inside({ shapes, faults, issues, secrets, disabled }: Omit<Place, "slot" | "set">, step: string, token = step): Pick<Place, "shapes" | "faults" | "issues" | "secrets" | "disabled"> {
  return {
    shapes, faults, disabled,
    issues: issues.filter((issue) => issue.steps[0] === step).map((issue) => ({ ...issue, steps: issue.steps.slice(1) })),
    secrets: secrets.filter(([first]) => first === token).map((way) => way.slice(1)),
  };
}

