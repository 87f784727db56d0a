/** Times and durations in words. */

import { useEffect, useState } from "react";

const EVERY_MS = 10_000;

/** The time now in seconds since 1970, which moves on while it is shown. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = window.setInterval(() => { setNow(Date.now() / 1000); }, EVERY_MS);
    return () => { window.clearInterval(timer); };
  }, []);
  return now;
}

/** A duration as one or two units, such as "6 d 23 h". */
export function duration(seconds: number): string {
  const units: readonly (readonly [string, number])[] = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  const first = units.findIndex(([, size]) => seconds >= size);
  const [name, size] = units[first] ?? ["s", 1];
  const whole = Math.floor(seconds / size);
  const second = units[first + 1];
  const rest = second === undefined ? 0 : Math.floor((seconds - whole * size) / second[1]);
  return rest > 0 && second !== undefined ? `${whole} ${name} ${rest} ${second[0]}` : `${whole} ${name}`;
}

/** How long ago or ahead a time is, of seconds since 1970. */
export function until(at: number, now: number): string {
  return at <= now ? "now over" : `in ${duration(at - now)}`;
}
