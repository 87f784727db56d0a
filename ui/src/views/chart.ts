/** What a chart shows of an artifact, found by its document: rows, one column across, the numbers as series. Its texts are escaped. */

import { text } from "../forms/schema";
import { shown } from "../kit/escape";
import { isObject, type Json, type JsonObject } from "../kit/values";

export interface Chart {
  /** The column across; "" for the place in the list. */
  readonly across: string;
  readonly isTime: boolean;
  readonly labels: readonly string[];
  /** Seconds since 1970 where it is time, else numbers. */
  readonly places: readonly number[];
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  readonly unit: string;
}

const DATE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2})?/;

/** Rows of a document: itself, or its longest list of objects. */
export function rowsOf(document: Json): readonly JsonObject[] {
  const lists = Array.isArray(document) ? [document as readonly Json[]] : isObject(document) ? Object.values(document).filter((value): value is readonly Json[] => Array.isArray(value)) : [];
  const rows = lists.filter((list) => list.length > 0 && list.every(isObject)) as readonly (readonly JsonObject[])[];
  return rows.reduce<readonly JsonObject[]>((longest, list) => (list.length > longest.length ? list : longest), []);
}

/** The chart of a document; null where it has no rows with a number. */
export function chartOf(document: Json): Chart | null {
  const rows = rowsOf(document);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const numeric = columns.filter((column) => rows.some((row) => typeof row[column] === "number") && rows.every((row) => row[column] === undefined || row[column] === null || typeof row[column] === "number"));
  const time = columns.find((column) => rows.every((row) => typeof row[column] === "string" && DATE.test(row[column]) && !Number.isNaN(Date.parse(row[column]))));
  const texts = columns.find((column) => rows.every((row) => typeof row[column] === "string"));
  const across = time ?? texts ?? (numeric.length > 1 ? numeric[0] : undefined) ?? "";
  const drawn = numeric.filter((column) => column !== across);
  if (rows.length === 0 || drawn.length === 0) return null;
  const ordered = time === undefined ? rows : [...rows].sort((left, right) => timeOf(left[time]) - timeOf(right[time]));
  return {
    across: shown(across),
    isTime: time !== undefined,
    labels: ordered.map((row, index) => (across === "" ? String(index) : shown(text(row[across])))),
    places: ordered.map((row, index) => (time === undefined ? (across !== "" && typeof row[across] === "number" ? row[across] : index) : timeOf(row[time]) / 1000)),
    series: drawn.map((name) => ({ name: shown(name), values: ordered.map((row) => (typeof row[name] === "number" ? row[name] : null)) })),
    unit: isObject(document) && typeof document["unit"] === "string" ? shown(document["unit"]) : "",
  };
}

function timeOf(value: Json | undefined): number {
  return typeof value === "string" ? Date.parse(value) : NaN;
}
