/** Calls made from this page, newest first, and what was typed: kept for the tab of the browser. */

import type { AnyCall } from "../api/client";
import { keep, kept } from "../kit/kept";
import type { JsonObject } from "../kit/values";

export interface Made { readonly at: number; readonly arguments: JsonObject; readonly call: AnyCall; readonly tookMs: number }

const MOST = 20;

export function historyOf(tool: string): readonly Made[] {
  return (kept(`calls ${tool}`) ?? []) as readonly Made[];
}

/** Keep a call as the newest one, and as many of those before it as there is room for. */
export function remember(tool: string, made: Made): void {
  const calls = [made, ...historyOf(tool)].slice(0, MOST);
  while (calls.length > 0 && !keep(`calls ${tool}`, calls)) calls.pop();
}

export interface Draft { readonly document: JsonObject; readonly text: string | null; readonly session: string }

export function draftOf(tool: string): Draft | null {
  return kept(`draft ${tool}`) as Draft | null;
}

export function keepDraft(tool: string, draft: Draft): void {
  keep(`draft ${tool}`, draft);
}
