/** Answers of the server in components: kept by key while they are fetched again. */

import { useCallback, useEffect, useState } from "react";
import { shownLines } from "../kit/escape";
import { texts } from "../texts";
import { Problem } from "./client";

export interface Loaded<Value> {
  /** The newest value; undefined until the first one is there. */
  readonly value: Value | undefined;
  readonly error: Error | undefined;
  readonly again: () => void;
}

/** Why something failed, for a person: the words of the server, or that there is none. */
export function wordsOf(error: Error): string {
  if (error instanceof Problem) return error.status === 401 ? texts.refusedToken : shownLines(error.message);
  return error instanceof TypeError ? texts.gone : shownLines(error.message); // as `fetch` has it
}

/** The same of whatever was thrown. */
export function wordsOfThrown(thrown: unknown): string {
  return wordsOf(thrown instanceof Error ? thrown : new Error(String(thrown)));
}

const kept = new Map<string, unknown>();

/** Fetch by `key`, again each time it changes, and every `everyMs` where that is given. */
export function useLoaded<Value>(key: string, load: () => Promise<Value>, everyMs = 0): Loaded<Value> {
  const [, redraw] = useState(0);
  const [error, setError] = useState<Error>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    let stale = false;
    let timer = 0;
    const fetchOnce = async () => {
      try {
        kept.set(key, await load());
        if (!stale) setError(undefined);
      } catch (failed) {
        if (!stale) setError(failed instanceof Error ? failed : new Error(String(failed)));
      }
      if (stale) return;
      redraw((count) => count + 1);
      if (everyMs > 0) timer = window.setTimeout(() => void fetchOnce(), everyMs);
    };
    void fetchOnce();
    return () => { stale = true; window.clearTimeout(timer); };
    // The key says what is loaded: a new function for the same key is the same question.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, round, everyMs]);
  return { value: kept.get(key) as Value | undefined, error, again: useCallback(() => { setRound((count) => count + 1); }, []) };
}

/** As `useLoaded`, of a list whose pages follow one another: the newest page, and each time that `older` is called one more. */
export function usePages<Item>(
  key: string, load: (after: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next?: string | undefined }>, everyMs = 0,
): Loaded<readonly Item[]> & { readonly pages: number; readonly older: (() => void) | undefined } {
  const [asked, ask] = useState({ key, pages: 1 });
  const pages = asked.key === key ? asked.pages : 1;
  const loaded = useLoaded(key, async () => {
    const items: Item[] = [];
    let next: string | undefined;
    for (let page = 0; page < pages && (page === 0 || next !== undefined); page += 1) {
      const found = await load(next);
      items.push(...found.items);
      next = found.next;
    }
    return { items, next };
  }, everyMs);
  const older = () => { ask({ key, pages: pages + 1 }); loaded.again(); };
  return { ...loaded, value: loaded.value?.items, pages, older: loaded.value?.next === undefined ? undefined : older };
}
