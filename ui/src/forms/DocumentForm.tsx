/** A form of one JSON document: it draws a draft, and says what it is changed to. */

import { tokensOf } from "../../../toolgen/templates/typescript/forms";
import type { Issue } from "../api/client";
import { texts } from "../texts";
import type { Entered, Slot } from "./draft";
import { Field } from "./fields";
import type { Shapes } from "./shape";

export function DocumentForm({ id, name, shapes, sensitive = [], draft, entered, issues, change, disabled = false }: {
  /** The id of the whole, which begins those of the fields. */
  id: string;
  name: string;
  shapes: Shapes;
  sensitive?: readonly string[] | undefined;
  draft: Slot;
  /** What was read from the draft. */
  entered: Entered<unknown>;
  issues: readonly Issue[];
  change: (draft: Slot) => void;
  disabled?: boolean;
}) {
  const shape = shapes.of(shapes.root);
  const isEmpty = shape.kind === "object" && shape.properties.length === 0 && shape.others === null && draft !== null && "fields" in draft && draft.more.length === 0;
  return (
    <div role="group" aria-label={name} className="form">
      <Field shapes={shapes} schema={shapes.root} slot={draft} set={change} id={id} name={name} isRequired faults={entered.faults} issues={issues.map(({ pointer, message }) => ({ steps: tokensOf(pointer), message }))}
        secrets={sensitive.map(tokensOf)} disabled={disabled} />
      {isEmpty && <p className="muted">{texts.form.none}</p>}
    </div>
  );
}
