/** How a run stands, in a word and its tone; only what is known to be good is green. */

import type { Run } from "../api/client";
import type { Tone } from "../kit/small";
import { toneOf } from "./timeline";

export const STATUSES: Readonly<Record<Run["status"], Tone>> = { running: "planning", waiting: "waiting", completed: "good", failed: "bad", canceled: "" };

export function outcomeOf(run: Run): readonly [string, Tone] {
  if ((run.unknown_calls ?? []).length > 0) return ["unknown", "bad"];
  const of = run.call_status;
  if (run.status !== "completed" || of === undefined || of === "ok") return [run.status, run.status === "completed" && run.error !== undefined ? "bad" : STATUSES[run.status]];
  return of === "unknown" ? ["resolved", ""] : [of, toneOf(of)];
}
