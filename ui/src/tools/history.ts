/** Calls made from this page, newest first, and what was typed: kept for the tab of the browser. */

import type { AnyCall } from "../api/client";
import type { JsonObject } from "../kit/values";

export interface Made { readonly at: number; readonly arguments: JsonObject; readonly call: AnyCall; readonly tookMs: number }

const MOST = 20;
const MOST_CHARACTERS = 200_000;

export function historyOf(tool: string): readonly Made[] {
  return (read(`calls ${tool}`) ?? []) as readonly Made[];
}

export function remember(tool: string, made: Made): void {
  write(`calls ${tool}`, [made, ...historyOf(tool)].slice(0, MOST));
}

export interface Draft { readonly document: JsonObject; readonly text: string | null; readonly session: string }

export function draftOf(tool: string): Draft | null {
  return read(`draft ${tool}`) as Draft | null;
}

export function keepDraft(tool: string, draft: Draft): void {
  write(`draft ${tool}`, draft);
}

function read(key: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(`toolgen ${key}`) ?? "null");
  } catch {
    return null; // kept by another version of the page
  }
}

function write(key: string, value: unknown): void {
  const text = JSON.stringify(value);
  try {
    if (text.length <= MOST_CHARACTERS) sessionStorage.setItem(`toolgen ${key}`, text);
  } catch {
    // A browser that keeps nothing: the page works, and forgets at a reload.
  }
}
