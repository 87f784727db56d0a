/** Fields of the form that differ from those of react-jsonschema-form: unions, and what a form cannot show. */

import type { FieldProps, RJSFSchema, UiSchema } from "@rjsf/utils";
import { useState } from "react";
import { isNothing, pinsOf } from "../../../toolgen/templates/typescript/forms";
import { Segmented } from "../kit/segmented";
import { isObject, pretty, type Json, type JsonObject } from "../kit/values";
import { texts } from "../texts";
import { branchTitle } from "./schema";
import { branchOf } from "./validator";

/** What the form cannot show is JSON at its place, not everywhere. */
export function JSONField({ fieldPathId, formData: given, onChange, disabled, rawErrors }: FieldProps) {
  const formData = given as Json | undefined;
  const [text, setText] = useState(formData === undefined ? "" : pretty(formData));
  const [written, setWritten] = useState(formData);
  const [wrong, setWrong] = useState("");
  if (written !== formData && JSON.stringify(written) !== JSON.stringify(formData)) { // the document was changed elsewhere
    setWritten(formData);
    setText(formData === undefined ? "" : pretty(formData));
    setWrong("");
  }
  const change = (next: string) => {
    setText(next);
    try {
      const value = next.trim() === "" ? undefined : (JSON.parse(next) as Json);
      setWrong("");
      setWritten(value);
      onChange(value, fieldPathId.path);
    } catch (error) {
      setWrong(`${texts.call.notJSON}: ${String(error instanceof Error ? error.message : error)}`);
    }
  };
  const id = fieldPathId.$id;
  return (
    <>
      <textarea id={id} className="code" rows={Math.min(12, text.split("\n").length + 1)} value={text} disabled={disabled} spellCheck={false}
        placeholder="JSON" aria-invalid={wrong !== "" || (rawErrors?.length ?? 0) > 0} aria-describedby={`${id}__description ${id}__json`}
        onChange={(event) => { change(event.target.value); }} />
      {wrong !== "" && <p className="issue" id={`${id}__json`}>{wrong}</p>}
    </>
  );
}

/** The branches side by side; none is chosen until a person does. */
export function UnionField(props: FieldProps & { options?: RJSFSchema[] }) {
  const { fieldPathId, onChange, registry, schema, required = false, errorSchema, name, disabled, readonly } = props;
  const formData = props.formData as Json | undefined;
  const all = props.options ?? [];
  const options = all.filter((option) => !isNothing(option as JsonObject));
  const root = registry.rootSchema;
  const [picked, setPicked] = useState(-1);
  const found = branchOf(options, root, formData);
  const chosen = picked >= 0 && (found < 0 || formData === undefined || fits(options[picked], formData)) ? picked : found;
  const branch = options[chosen];
  const choose = (index: number) => {
    setPicked(index);
    onChange(start(options[index]), fieldPathId.path);
  };
  const Inner = registry.fields["SchemaField"] as React.ComponentType<FieldProps>;
  const { __errors: own, ...inner } = errorSchema ?? {};
  return (
    <div className="union">
      <div className="row">
        <Segmented label={schema.title ?? name} choices={options.map((option, index) => branchTitle(option as JsonObject, index))}
          chosen={chosen} choose={choose} disabled={disabled === true || readonly === true} />
        {!required && chosen >= 0 && <button type="button" className="plain muted" onClick={() => { setPicked(-1); onChange(undefined, fieldPathId.path); }}>{texts.unset}</button>}
      </div>
      {(own ?? []).map((issue) => <p key={issue} className="issue">{issue}</p>)}
      {branch !== undefined && branch.const === undefined && branch.type !== "null" && (
        <Inner {...props} key={chosen} schema={untitled(branch)} errorSchema={inner} required={required} uiSchema={branchHints(props.uiSchema, all.indexOf(branch))} />
      )}
    </div>
  );
}

/** Whether a document still belongs to a branch that somebody chose: nothing in it contradicts its constants. */
function fits(branch: RJSFSchema | undefined, document: Json): boolean {
  if (branch === undefined) return false;
  const pinned = pinsOf(branch);
  return !isObject(document) || Object.entries(pinned).every(([name, value]) => document[name] === undefined || document[name] === value);
}

/** The document with which a branch begins: its constants, as far as it has any. */
function start(branch: RJSFSchema | undefined): Json | undefined {
  if (branch === undefined) return undefined;
  if (branch.const !== undefined) return branch.const;
  if (branch.type === "null") return null;
  return branch.type === "object" ? pinsOf(branch) : undefined;
}

/** A branch without the title, which its button has. */
function untitled({ title: _title, ...branch }: RJSFSchema): RJSFSchema {
  return branch;
}

/** The hints of a branch. */
function branchHints(given: UiSchema | undefined, at: number): UiSchema {
  return { ...((given?.oneOf ?? given?.anyOf) as readonly UiSchema[] | undefined)?.[at], "ui:label": false };
}
