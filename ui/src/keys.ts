/** Keys of the page. Those without a modifier are not taken where somebody types. */

import { useEffect, useRef } from "react";

/** `keys` names each by what is pressed: `/`, `j`, `Ctrl Enter`, or two after another: `g t`. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  useEffect(() => { latest.current = keys; });
  useEffect(() => {
    let before = "";
    const pressed = (event: KeyboardEvent) => {
      const withModifier = event.ctrlKey || event.metaKey;
      if (event.altKey || (!withModifier && isTyping(event))) { before = ""; return; }
      const key = withModifier ? `Ctrl ${event.key}` : event.key;
      const run = latest.current[`${before} ${key}`] ?? latest.current[key];
      before = key === "g" ? "g" : "";
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    window.addEventListener("keydown", pressed);
    return () => { window.removeEventListener("keydown", pressed); };
  }, []);
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}
