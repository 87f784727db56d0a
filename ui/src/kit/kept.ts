/** What was typed, kept for the tab of the browser: a reload, or a visit to another place, loses nothing. */

import { useEffect, useState } from "react";
import { received } from "./exact";

const MOST_CHARACTERS = 200_000;

/** As `useState`, of a value of which `part` is kept under a key as long as that differs from `empty`. */
export function useKept<Value>(key: string, empty: Value, part: (value: Value) => Value = (value) => value): [Value, (value: Value) => void] {
  const [value, setValue] = useState(() => (kept(key) ?? empty) as Value);
  useEffect(() => {
    const left = part(value);
    keep(key, JSON.stringify(left) === JSON.stringify(empty) ? null : left);
  });
  return [value, setValue];
}

export function kept(key: string): unknown {
  try {
    return received(sessionStorage.getItem(`toolgen ${key}`) ?? "null");
  } catch {
    return null; // kept by another version of the page
  }
}

/** Keep a value, null for none; false where it is too large. */
export function keep(key: string, value: unknown): boolean {
  const text = JSON.stringify(value);
  if (text.length > MOST_CHARACTERS) return false;
  try {
    if (value === null) sessionStorage.removeItem(`toolgen ${key}`);
    else sessionStorage.setItem(`toolgen ${key}`, text);
    return true;
  } catch {
    return false; // a browser that keeps nothing, or no more: the page works, and forgets at a reload
  }
}
