/** The state of a form, and of a field for a text outside of one. */

import { useMemo, type ReactNode } from "react";
import type { JsonObject } from "../kit/values";
import { useKept } from "../kit/kept";
import { texts } from "../texts";
import { read, startOf, type Entered, type Slot } from "./draft";
import { Field } from "./fields";
import { Shapes } from "./shape";

/** What was typed into a form; null where nothing was. */
export type Typed = { readonly slot: Slot } | null;

export function useShapes(schema: JsonObject, types: JsonObject | undefined): Shapes {
  return useMemo(() => new Shapes(schema, types), [schema, types]);
}

/** The draft of a form in which something, or nothing yet, was typed. */
export function draftFor(shapes: Shapes, typed: Typed): Slot {
  return typed === null ? startOf(shapes, shapes.root) : typed.slot;
}

const TEXT = new Shapes({ type: "string" });

/** Read a field for any text: it is empty where it is not set. */
export function readText(slot: Slot, id: string): Entered<string> {
  const entered = read(TEXT, slot, id);
  if (!entered.ok) return entered;
  const { value = "" } = entered;
  return typeof value === "string" ? { ...entered, value } : { ok: false, faults: new Map([[id, texts.form.notText]]) };
}

export interface TextState { readonly id: string; readonly slot: Slot; readonly set: (slot: Slot) => void; readonly entered: Entered<string> }

/** A text that is kept for the tab of the browser. */
export function useKeptText(key: string, id: string): TextState {
  const [slot, set] = useKept<Slot>(key, null);
  return { id, slot, set, entered: readText(slot, id) };
}

/** A field for a text; `name` is what it is called where its label is more than a text. */
export function TextEntry({ state, isOptional = false, isLong = false, ...shown }: { state: TextState; label?: ReactNode; name: string; placeholder?: string; isOptional?: boolean; isLong?: boolean; children?: ReactNode }) {
  const { id, slot, set, entered } = state;
  return (
    <Field {...shown} shapes={isLong ? LONG_TEXT : TEXT} schema={(isLong ? LONG_TEXT : TEXT).root} slot={slot} set={set} id={id} isRequired={!isOptional} faults={entered.faults} issues={[]} secrets={[]} disabled={false} />
  );
}

const LONG_TEXT = new Shapes({ type: "string", maxLength: 10_000_000 });

/** Why nothing is sent: how many fields are to correct. */
export function Wrong({ faults }: { faults: ReadonlyMap<string, string> }) {
  return faults.size === 0 ? null : <p className="issue" role="alert">{texts.form.wrong(faults.size)}</p>;
}
