/** How the form draws a field, an object and a list: a label, one line of help, the input, its issues. */

import type { ArrayFieldItemTemplateProps, ArrayFieldTemplateProps, FieldTemplateProps, ObjectFieldTemplateProps, OptionalDataControlsTemplateProps, WrapIfAdditionalTemplateProps } from "@rjsf/utils";
import { texts } from "../texts";
import { limitWords } from "./schema";
import type { JsonObject } from "../kit/values";

export function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, required = false, rawDescription = "", rawHelp = "", rawErrors = [], children, displayLabel, hidden, schema, uiSchema, onKeyRename, onRemoveProperty } = props;
  if (hidden) return <div hidden>{children}</div>;
  const isRoot = id === "root";
  const isAdditional = "__additional_property" in schema;
  const help = [rawDescription, ...limitWords(schema as JsonObject), rawHelp].filter(Boolean).join(" · ");
  const isLabelled = !isRoot && uiSchema?.["ui:label"] !== false && !isAdditional;
  const isGroup = displayLabel === false || schema.type === "object" || schema.type === "array" || schema.type === "boolean" || schema.enum !== undefined;
  return (
    <div className="field">
      {isAdditional && (
        <div className="row">
          <input aria-label={texts.form.key} defaultValue={label} onBlur={(event) => { onKeyRename(event.target.value); }} />
          <button type="button" className="plain" aria-label={texts.form.remove(label)} onClick={onRemoveProperty}>✕</button>
        </div>
      )}
      {isLabelled && (
        isGroup
          ? <div className="label">{label}{!required && <span className="muted small"> {texts.optional}</span>}</div>
          : <label className="label" htmlFor={id}>{label}{!required && <span className="muted small"> {texts.optional}</span>}</label>
      )}
      {!isRoot && help !== "" && <p className="help" id={`${id}__description`}>{help}</p>}
      {children}
      <div id={`${id}__issues`}>{rawErrors.map((issue) => <p key={issue} className="issue">{issue}</p>)}</div>
    </div>
  );
}

export function ObjectFieldTemplate({ fieldPathId, properties, schema, title, onAddProperty, optionalDataControl, formData }: ObjectFieldTemplateProps) {
  const isRoot = fieldPathId.$id === "root";
  const content = <>{properties.map((property) => <div key={property.name}>{property.content}</div>)}</>;
  const mayAdd = schema.additionalProperties !== false && (typeof schema.additionalProperties === "object") && formData !== undefined;
  if (isRoot) return <>{content}{properties.length === 0 && <p className="muted">{texts.form.none}</p>}</>;
  return (
    <fieldset>
      <legend className="hidden-text">{title}</legend>
      {optionalDataControl}
      {content}
      {mayAdd && <button type="button" onClick={onAddProperty}>{texts.form.addKey}</button>}
    </fieldset>
  );
}

export function ArrayFieldTemplate({ items, canAdd, onAddClick, title, disabled, optionalDataControl }: ArrayFieldTemplateProps) {
  return (
    <fieldset>
      <legend className="hidden-text">{title}</legend>
      {optionalDataControl}
      {items}
      {canAdd && <button type="button" disabled={disabled} onClick={onAddClick}>{texts.form.addItem}</button>}
    </fieldset>
  );
}

export function ArrayFieldItemTemplate({ children, index, buttonsProps }: ArrayFieldItemTemplateProps) {
  return (
    <div className="item">
      <div className="grow">{children}</div>
      <button type="button" className="plain" aria-label={texts.form.removeItem(index + 1)} onClick={buttonsProps.onRemoveItem}>✕</button>
    </div>
  );
}

/** Keys of maps are drawn by the field itself. */
export function WrapIfAdditionalTemplate({ children }: WrapIfAdditionalTemplateProps) {
  return children;
}

/** An optional object is absent until somebody adds it. */
export function OptionalDataControlsTemplate({ id, onAddClick, onRemoveClick }: OptionalDataControlsTemplateProps) {
  const click = onAddClick ?? onRemoveClick;
  return click === undefined ? null : <button type="button" id={id} className="plain muted" onClick={() => { click(); }}>{onAddClick === undefined ? texts.unset : texts.form.add}</button>;
}
