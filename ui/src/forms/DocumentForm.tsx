/** A form of one JSON document, by react-jsonschema-form with the templates and fields of this folder. */

import Form from "@rjsf/core";
import type { ErrorSchema, RJSFSchema, UiSchema } from "@rjsf/utils";
import { useMemo } from "react";
import { errorsOf, formOf, type FormSource } from "../../../toolgen/templates/typescript/forms";
import type { Issue } from "../api/client";
import type { JsonObject } from "../kit/values";
import { JSONField, UnionField } from "./fields";
import { ArrayFieldItemTemplate, ArrayFieldTemplate, FieldTemplate, ObjectFieldTemplate, OptionalDataControlsTemplate, WrapIfAdditionalTemplate } from "./templates";
import { validator } from "./validator";
import { BooleanWidget, PasswordWidget, SelectWidget, TextWidget } from "./widgets";

const fields = { OneOfField: UnionField, AnyOfField: UnionField, json: JSONField };
const templates = { FieldTemplate, ObjectFieldTemplate, ArrayFieldTemplate, ArrayFieldItemTemplate, WrapIfAdditionalTemplate, OptionalDataControlsTemplate, ErrorListTemplate: () => null };
const ui = Object.fromEntries(["TextWidget", "DateWidget", "DateTimeWidget", "TimeWidget", "EmailWidget", "URLWidget", "UpDownWidget", "TextareaWidget", "ColorWidget", "FileWidget", "RangeWidget"].map((name) => [name, TextWidget]));
const widgets = { ...ui, PasswordWidget, CheckboxWidget: BooleanWidget, SelectWidget, CheckboxesWidget: SelectWidget, RadioWidget: BooleanWidget };

/** `types` are those of the catalogue; `change` is told each new document, in which what is not set is absent. */
export default function DocumentForm({ name, source, types, document, issues, change, disabled = false }: {
  name: string;
  source: FormSource;
  types?: JsonObject | undefined;
  document: JsonObject;
  issues: readonly Issue[];
  change: (document: JsonObject) => void;
  disabled?: boolean;
}) {
  const { schema, uiSchema } = useMemo(() => formOf(source, { types }), [source, types]);
  const extraErrors = useMemo(() => errorsOf(issues) as ErrorSchema, [issues]);
  return (
    <Form
      tagName="div" idPrefix="root" schema={untitled(schema)} uiSchema={{ ...(uiSchema as UiSchema), "ui:submitButtonOptions": { norender: true }, "ui:enableOptionalDataFieldForType": [], "ui:globalOptions": { label: true, enableOptionalDataFieldForType: ["object"] } }}
      formData={document} validator={validator} noHtml5Validate extraErrors={extraErrors} extraErrorsBlockSubmit={false} showErrorList={false} disabled={disabled}
      fields={fields} templates={templates} widgets={widgets}
      experimental_defaultFormStateBehavior={{ emptyObjectFields: "skipDefaults", arrayMinItems: { populate: "never" }, allOf: "skipDefaults", constAsDefaults: "never" }}
      aria-label={name}
      onChange={(event) => { change(pruned(event.formData as JsonObject | undefined)); }}
    />
  );
}

function untitled(schema: JsonObject): RJSFSchema {
  const { title: _title, description: _description, ...rest } = schema;
  return rest;
}

/** A document as JSON has it: a key whose value is undefined is not there. */
function pruned(document: JsonObject | undefined): JsonObject {
  return JSON.parse(JSON.stringify(document ?? {})) as JsonObject;
}
