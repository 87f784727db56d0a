/** Inputs of the form. Each leaves an empty value out of the document. */

import type { WidgetProps } from "@rjsf/utils";
import { Segmented } from "../kit/segmented";
import { texts } from "../texts";

const SIDE_BY_SIDE = 4; // choices, and characters of them in all
const CHARACTERS = 48;

function describedBy(id: string): string {
  return `${id}__description ${id}__issues`;
}

/** A text or a number, as it is typed: the server judges it. */
export function TextWidget({ id, value, schema, disabled, readonly, required, rawErrors, onChange, type, placeholder }: WidgetProps) {
  const shared = {
    id, disabled, readOnly: readonly, value: (value ?? "") as string, "aria-required": required,
    "aria-invalid": (rawErrors?.length ?? 0) > 0, "aria-describedby": describedBy(id),
    placeholder,
  };
  const change = (text: string) => { onChange(text === "" ? undefined : text); };
  if (schema.type === "string" && schema.format === undefined && (schema.maxLength ?? 0) > 200) {
    return <textarea {...shared} rows={4} onChange={(event) => { change(event.target.value); }} />;
  }
  const isNumber = schema.type === "integer" || schema.type === "number";
  return <input {...shared} type={type === "password" ? "password" : "text"} inputMode={isNumber ? "decimal" : undefined} autoComplete="off" onChange={(event) => { change(event.target.value); }} />;
}

export function PasswordWidget(props: WidgetProps) {
  return <TextWidget {...props} type="password" />;
}

/** True or false, of which neither is taken for the other. */
export function BooleanWidget({ value, label, required, disabled, readonly, onChange }: WidgetProps) {
  const chosen = value === true ? 0 : value === false ? 1 : -1;
  return (
    <div className="row">
      <Segmented label={label} choices={["true", "false"]} chosen={chosen} choose={(index) => { onChange(index === 0); }} disabled={disabled === true || readonly === true} />
      {required !== true && chosen >= 0 && <Unset clear={() => { onChange(undefined); }} />}
    </div>
  );
}

export function SelectWidget({ id, value, label, options, required, disabled, readonly, multiple, rawErrors, onChange }: WidgetProps) {
  const choices = options.enumOptions ?? [];
  const off = disabled === true || readonly === true;
  if (multiple === true) {
    const taken = Array.isArray(value) ? (value as unknown[]) : [];
    return (
      <div role="group" aria-label={label} className="row">
        {choices.map((choice, index) => (
          <label key={index}><input type="checkbox" disabled={off} checked={taken.includes(choice.value)} onChange={(event) => {
            const next = event.target.checked ? [...taken, choice.value as unknown] : taken.filter((item) => item !== choice.value);
            onChange(next.length > 0 ? choices.map((one) => one.value as unknown).filter((item) => next.includes(item)) : undefined);
          }} /> {choice.label}</label>
        ))}
      </div>
    );
  }
  const chosen = choices.findIndex((choice) => choice.value === value);
  if (choices.length <= SIDE_BY_SIDE && choices.map((choice) => choice.label).join("").length <= CHARACTERS) {
    return (
      <div className="row">
        <Segmented label={label} choices={choices.map((choice) => choice.label)} chosen={chosen} choose={(index) => { onChange(choices[index]?.value); }} disabled={off} />
        {required !== true && chosen >= 0 && <Unset clear={() => { onChange(undefined); }} />}
      </div>
    );
  }
  return (
    <select id={id} aria-label={label} disabled={off} value={chosen} aria-required={required} aria-invalid={(rawErrors?.length ?? 0) > 0} aria-describedby={describedBy(id)}
      onChange={(event) => { onChange(choices[Number(event.target.value)]?.value); }}>
      <option value={-1}>{texts.unset}</option>
      {choices.map((choice, index) => <option key={index} value={index}>{choice.label}</option>)}
    </select>
  );
}

function Unset({ clear }: { clear: () => void }) {
  return <button type="button" className="plain muted" onClick={clear}>{texts.unset}</button>;
}
