/** Calls made from this page, newest first, and what was typed: kept for the tab of the browser. */

import { tokensOf } from "../../../toolgen/templates/typescript/forms";
import type { AnyCall, Tool } from "../api/client";
import { asObject, draftOf, draftWithoutSecrets, read, readJSON, withoutSecrets, type Entered, type Slot, type Ways } from "../forms/draft";
import { draftFor, readText, type Typed } from "../forms/form";
import type { Shapes } from "../forms/shape";
import { keep, kept } from "../kit/kept";
import { isObject, pretty, type Json, type JsonObject } from "../kit/values";

/** `arguments` are without what is sensitive. */
export interface Made { readonly at: number; readonly arguments: JsonObject; readonly call: AnyCall; readonly tookMs: number }

const MOST = 20;

export function historyOf(tool: string): readonly Made[] {
  return (kept(`calls ${tool}`) ?? []) as readonly Made[];
}

/** Keep a call as the newest one, and as many of those before it as there is room for. */
export function remember(tool: Tool, made: Made): void {
  const calls = [{ ...made, arguments: shareable(tool, made.arguments) }, ...historyOf(tool.id)].slice(0, MOST);
  while (calls.length > 0 && !keep(`calls ${tool.id}`, calls)) calls.pop();
}

/** The arguments of a call without what is sensitive, or with something `instead`. */
export function shareable(tool: Tool, document: Json, instead?: Json): JsonObject {
  const left = withoutSecrets(document, waysOf(tool), instead);
  return isObject(left) ? left : {};
}

function waysOf(tool: Tool): Ways {
  return (tool.payload?.sensitive ?? []).map(tokensOf);
}

/** What a person typed to call a tool: into the form, or as JSON where `text` is one; and its session. */
export interface Request { readonly form: Typed; readonly text: string | null; readonly session: Slot }
/** The same, read. */
export interface Asked { readonly arguments: JsonObject; readonly session: string }

export const ARGUMENTS = "arguments"; // ids of the two
export const SESSION = "session";
const NOTHING: Request = { form: null, text: null, session: null };

export function requestOf(tool: string): Request {
  return (kept(`request ${tool}`) as Request | null) ?? NOTHING;
}

/** Keep what was typed but what is sensitive: of JSON what is left of it, nothing where it cannot be read. */
export function keepRequest(tool: Tool, { form, text, session }: Request): void {
  const ways = waysOf(tool);
  const slot = form === null ? null : { slot: draftWithoutSecrets(form.slot, ways) };
  keep(`request ${tool.id}`, { form: slot, text: text === null || ways.length === 0 ? text : shareableText(tool, text), session } satisfies Request);
}

function shareableText(tool: Tool, text: string): string {
  const entered = readJSON(text, ARGUMENTS);
  return pretty(entered.ok ? shareable(tool, entered.value) : {});
}

/** A request for a document that came from elsewhere, in the view of another. */
export function requestFor(shapes: Shapes, document: JsonObject, before: Request, text: string | null): Request {
  return { ...before, form: { slot: draftOf(shapes, shapes.root, document) }, text };
}

/** Read what stands in the fields of a call: all that is sent. */
export function asked(shapes: Shapes, { form, text, session }: Request): Entered<Asked> {
  const given = asObject(text === null ? read(shapes, draftFor(shapes, form), ARGUMENTS) : readJSON(text, ARGUMENTS), ARGUMENTS);
  const named = readText(session, SESSION);
  const faults = new Map([...given.faults, ...named.faults]);
  return given.ok && named.ok ? { ok: true, value: { arguments: given.value, session: named.value }, faults } : { ok: false, faults };
}
