/** Fields of the form that differ from those of react-jsonschema-form: unions, and what a form cannot show. */

import { getDefaultRegistry } from "@rjsf/core";
import type { FieldProps, RJSFSchema } from "@rjsf/utils";
import { useState } from "react";
import { Segmented } from "../kit/segmented";
import { isObject, pretty, type Json, type JsonObject } from "../kit/values";
import { texts } from "../texts";
import { branchTitle, pins, resolved } from "./schema";
import { branchOf } from "./validator";

const Standard = getDefaultRegistry().fields["SchemaField"] as React.ComponentType<FieldProps>;

/** Whether a form library has nothing to show for a schema: any value, a map of any values, a list of any values. */
export function isFree(schema: JsonObject): boolean {
  if (["enum", "const", "oneOf", "anyOf", "allOf"].some((key) => key in schema)) return false;
  if (schema["type"] === undefined || Array.isArray(schema["type"])) return true;
  if (schema["type"] === "object") return !isObject(schema["properties"]) && !isTyped(schema["additionalProperties"]);
  return schema["type"] === "array" && !isTyped(schema["items"]);
}

function isTyped(schema: Json | undefined): boolean {
  return isObject(schema) && Object.keys(schema).length > 0;
}

/** What the form cannot show is JSON at its place, not everywhere. */
export function SchemaField(props: FieldProps) {
  const schema = resolved(props.schema, props.registry.rootSchema);
  if (!isFree(schema)) return <Standard {...props} />;
  return <Standard {...props} schema={{ ...(schema as RJSFSchema), type: "string" }} uiSchema={{ ...props.uiSchema, "ui:field": "json" }} />;
}

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
  const options = props.options ?? [];
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
        <Inner {...props} key={chosen} schema={unpinned(branch)} errorSchema={inner} required={required} uiSchema={{ ...props.uiSchema, "ui:label": false }} />
      )}
    </div>
  );
}

/** Whether a document still belongs to a branch that somebody chose: nothing in it contradicts its constants. */
function fits(branch: RJSFSchema | undefined, document: Json): boolean {
  if (branch === undefined) return false;
  const pinned = pins(branch);
  return !isObject(document) || Object.entries(pinned).every(([name, value]) => document[name] === undefined || document[name] === value);
}

/** The document with which a branch begins: its constants, as far as it has any. */
function start(branch: RJSFSchema | undefined): Json | undefined {
  if (branch === undefined) return undefined;
  if (branch.const !== undefined) return branch.const;
  if (branch.type === "null") return null;
  return branch.type === "object" ? pins(branch) : undefined;
}

/** A branch without the properties that only say which branch it is, and without the title that its button has. */
function unpinned(branch: RJSFSchema): RJSFSchema {
  const { title: _title, description, ...rest } = branch;
  const pinned = Object.keys(pins(branch));
  const properties = Object.fromEntries(Object.entries(rest.properties ?? {}).filter(([name]) => !pinned.includes(name)));
  return { ...rest, ...(rest.properties === undefined ? {} : { properties, additionalProperties: rest.additionalProperties ?? true }), ...(description === undefined ? {} : { description }) };
}
