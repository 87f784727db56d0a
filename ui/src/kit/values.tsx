/** JSON values as a table where they are objects or rows, and as a tree. */

import { useState } from "react";
import { texts } from "../texts";
import { isRaw, type Json, type JsonObject } from "./exact";
import { shown, shownLines, visible, visibleLines } from "./escape";

export type { Json, JsonObject } from "./exact";

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRaw(value);
}

/** Whether something in a document is what the server writes in the place of a sensitive value. */
export function hidesIn(value: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(hidesIn);
  if (!isObject(value)) return false;
  const parts = Object.entries(value);
  return parts.every(([key, one]) => key === "sensitive" && one === true) ? parts.length === 1 : parts.some(([, one]) => hidesIn(one));
}

/** A value as JSON on several lines, in which nothing hides; it is JSON of the same value. */
export function pretty(value: Json): string {
  return visibleLines(JSON.stringify(value, null, 2));
}

/** The same on one line. */
export function compact(value: Json): string {
  return visible(JSON.stringify(value));
}

/** A value as text: a text as it is, but where it reads as another value, or as none. */
function short(value: Json): string {
  return typeof value === "string" && !readsAsOther(value) ? shownLines(value) : compact(value);
}

function readsAsOther(text: string): boolean {
  if (text.trim() === "" || text === NONE) return true;
  try {
    return !text.includes("\n") && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

const NONE = "–";

/** A value in a cell: nested ones are opened in place. */
function Cell({ value }: { value: Json | undefined }) {
  if (value === undefined) return <span className="muted">{NONE}</span>;
  if (typeof value !== "object" || value === null || isRaw(value)) return <span className="shown">{short(value)}</span>;
  const text = compact(value);
  if (text.length <= 60) return <code>{text}</code>;
  const count = Array.isArray(value) ? `${value.length} items` : `${Object.keys(value).length} fields`;
  return <details><summary className="muted">{count}</summary><ValueTable value={value} /></details>;
}

/** Rows of objects with sortable columns, fields of an object, or the value itself. */
export function ValueTable({ value }: { value: Json }) {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return items.length > 0 && items.every(isObject) ? <Rows rows={items} /> : <Items items={items} />;
  }
  if (isObject(value)) return <Fields fields={value} />;
  return <pre>{short(value)}</pre>;
}

function Fields({ fields }: { fields: JsonObject }) {
  const rowed = Object.entries(fields).filter(([, value]) => Array.isArray(value) && value.length > 0 && value.every(isObject));
  const plain = Object.entries(fields).filter(([key]) => !rowed.some(([name]) => name === key));
  return (
    <>
      {rowed.map(([name, value]) => <section key={name}><h3>{shown(name)}</h3><ValueTable value={value} /></section>)}
      {plain.length > 0 && (
        <table><tbody>
          {plain.map(([name, value]) => <tr key={name}><th scope="row">{shown(name)}</th><td><Cell value={value} /></td></tr>)}
        </tbody></table>
      )}
      {rowed.length + plain.length === 0 && <p className="muted">{texts.values.emptyObject}</p>}
    </>
  );
}

function Items({ items }: { items: readonly Json[] }) {
  if (items.length === 0) return <p className="muted">{texts.values.emptyList}</p>;
  return <table><tbody>{items.map((item, index) => <tr key={index}><th scope="row">{index}</th><td><Cell value={item} /></td></tr>)}</tbody></table>;
}

const SHOWN_ROWS = 200;

function Rows({ rows }: { rows: readonly JsonObject[] }) {
  const [sort, setSort] = useState<{ column: string; descending: boolean } | null>(null);
  const [limit, setLimit] = useState(SHOWN_ROWS);
  const columns = [...new Set(rows.slice(0, SHOWN_ROWS).flatMap((row) => Object.keys(row)))];
  const sorted = sort === null ? rows : [...rows].sort((left, right) => order(cellOf(left, sort.column), cellOf(right, sort.column)) * (sort.descending ? -1 : 1));
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label={texts.values.rows}>
      <table>
        <thead><tr>{columns.map((column) => (
          <th key={column} scope="col" aria-sort={sort?.column === column ? (sort.descending ? "descending" : "ascending") : "none"}>
            <button type="button" className="plain" onClick={() => { setSort({ column, descending: sort?.column === column && !sort.descending }); }}>
              {shown(column)}{sort?.column === column ? (sort.descending ? " ↓" : " ↑") : ""}
            </button>
          </th>
        ))}</tr></thead>
        <tbody>{sorted.slice(0, limit).map((row, index) => (
          <tr key={index}>{columns.map((column) => <td key={column} className={typeof cellOf(row, column) === "number" ? "number" : ""}><Cell value={cellOf(row, column)} /></td>)}</tr>
        ))}</tbody>
      </table>
      {rows.length > limit && <button type="button" onClick={() => { setLimit(limit + SHOWN_ROWS); }}>{texts.values.more(limit, rows.length)}</button>}
    </div>
  );
}

/** The value of a row under a key of its own, which may be "constructor". */
function cellOf(row: JsonObject, column: string): Json | undefined {
  return Object.hasOwn(row, column) ? row[column] : undefined;
}

/** Order of two cells: numbers by value, all else as text, what is absent last. */
export function order(left: Json | undefined, right: Json | undefined): number {
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  if (typeof left === "number" && typeof right === "number") return left - right;
  const text = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));
  return text(left).localeCompare(text(right), "en", { numeric: true });
}

const OPEN_DEPTH = 2;

export function Tree({ value, depth = 0 }: { value: Json; depth?: number }) {
  if (typeof value !== "object" || value === null || isRaw(value)) return <>{compact(value)}</>;
  const entries: [string, Json][] = Array.isArray(value) ? value.map((item, index) => [String(index), item as Json]) : Object.entries(value as JsonObject);
  return (
    <ul className="tree">
      {entries.map(([name, child]) => (
        <li key={name}>{typeof child === "object" && child !== null && !isRaw(child) ? <Branch name={name} value={child} depth={depth} /> : <>{shown(name)}: {compact(child)}</>}</li>
      ))}
      {entries.length === 0 && <li className="muted">{Array.isArray(value) ? "[]" : "{}"}</li>}
    </ul>
  );
}

/** A nested value: its children are drawn once it is open. */
function Branch({ name, value, depth }: { name: string; value: Json; depth: number }) {
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  const count = Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value as JsonObject).length}}`;
  return (
    <details open={open} onToggle={(event) => { setOpen(event.currentTarget.open); }}>
      <summary>{shown(name)} <span className="muted">{count}</span></summary>
      {open && <Tree value={value} depth={depth + 1} />}
    </details>
  );
}
