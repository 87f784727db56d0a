/** Answers of the server in components: kept by key while they are fetched again. */

import { useCallback, useEffect, useState } from "react";
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
  if (error instanceof Problem) return error.status === 401 ? texts.refusedToken : error.message;
  return error instanceof TypeError ? texts.gone : error.message; // as `fetch` has it
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
