/** A run as a line of time, folded from its events; the fold of the same events is the same, live and afterwards. */

import type { RuntimeEvent } from "../api/client";
import type { Tone } from "../kit/small";
import { isObject, type Json, type JsonObject } from "../kit/values";

export interface Line {
  readonly key: string;
  /** Seconds since the run began. */
  readonly at: number;
  readonly what: string;
  /** Whether it is the name of a tool, and none of the words of the page. */
  readonly isName: boolean;
  readonly detail: string;
  readonly tone: Tone;
  readonly durationS: number | null;
  readonly isChild: boolean;
  readonly child: string;
  readonly suspension: string;
  readonly events: readonly JsonObject[];
}

export interface Timeline {
  readonly lines: readonly Line[];
  /** Text that the assistant is saying now, from pieces that no log has. */
  readonly saying: string;
  readonly tokens: number;
  readonly calls: number;
  readonly status: string;
  /** Number of the last event that has one. */
  readonly seq: number;
  readonly begunAt: number | null;
  /** By kind of event and call, the time of the newest: a piece that is not newer was there, or comes too late. */
  readonly heard: Readonly<Record<string, number>>;
}

export const EMPTY: Timeline = { lines: [], saying: "", tokens: 0, calls: 0, status: "running", seq: 0, begunAt: null, heard: {} };

/** Return the seconds from the beginning to the end of what is there. */
export function lengthOf(timeline: Timeline): number {
  return Math.max(0, ...timeline.lines.map((line) => line.at + (line.durationS ?? 0)));
}

/** Add one event; one that was there before changes nothing: a resumed stream may say pieces again. */
export function added(timeline: Timeline, given: RuntimeEvent): Timeline {
  const event = given as unknown as JsonObject; // fields are read as far as they are there
  const seq = numberOf(event["seq"]);
  if (seq > 0 && seq <= timeline.seq) return timeline;
  const time = numberOf(event["time"]);
  const kind = `${textOf(event["type"])} ${textOf(event["tool_call_id"])}`;
  if (seq === 0 && time > 0 && time <= (timeline.heard[kind] ?? 0)) return timeline;
  const begunAt = timeline.begunAt ?? (time || null);
  const at = time > 0 && begunAt !== null ? time - begunAt : (timeline.lines.at(-1)?.at ?? 0); // the end of a run that was cut off has no time
  const next: Timeline = { ...timeline, begunAt, seq: seq || timeline.seq, heard: { ...timeline.heard, [kind]: time } };
  const line = (what: string, tone: Tone, more: Partial<Line> = {}): Timeline => ({
    ...next,
    lines: [...next.lines, { key: `${textOf(event["seq"])} ${next.lines.length}`, at, what, isName: false, detail: "", tone, durationS: null, isChild: false, child: "", suspension: "", events: [event], ...more }],
  });
  const call = textOf(event["tool_call_id"]);
  switch (event["type"]) {
    case "run_started": return line("started", "planning", { detail: textOf(event["agent"]) });
    case "planner_thought": return line("planned", "planning", { detail: textOf(event["text"]) });
    case "plan_retry": return { ...line("planning again", "waiting", { detail: textOf(event["reason"]) }), saying: "" };
    case "usage": {
      const [read, written] = [numberOf(event["input_tokens"]), numberOf(event["output_tokens"])];
      return { ...line("planned", "planning", { detail: `${textOf(event["model"])}, ${read} + ${written} tokens` }), tokens: next.tokens + read + written };
    }
    case "tool_start": return { ...line(nameOf(event), "planning", { isName: true, key: call || textOf(event["seq"]), detail: textOf(event["text"]), isChild: textOf(event["parent_tool_call_id"]) !== "" }), calls: next.calls + 1 };
    case "tool_update": case "tool_output_delta":
      if (numberOf(event["number"])) return line("intermediate result", "planning", { detail: JSON.stringify(event["value"]) });
      return changed(next, call, event, { detail: textOf(event["message"]) || textOf(event["text"]) });
    case "agent_run_started": return changed(next, call, event, { child: textOf(event["child_run_id"]), detail: `by ${textOf(event["agent"])}` });
    case "tool_end": {
      const status = textOf(event["status"]);
      const [error, telemetry] = [event["error"], event["telemetry"]];
      const detail = textOf(event["display"]) || (isObject(error) ? textOf(error["message"]) : "") || status;
      const end = { detail, tone: toneOf(status), durationS: isObject(telemetry) ? numberOf(telemetry["duration_s"]) : 0 };
      return next.lines.some((one) => one.key === call) ? changed(next, call, event, end) : line(nameOf(event), end.tone, { isName: true, key: call, ...end });
    }
    case "approval_requested": case "input_requested": case "question_asked":
      return line(`${nameOf(event) || "the agent"} is suspended`, "waiting", { detail: textOf(event["question"]), suspension: textOf(event["suspension_id"]) });
    case "tool_authorization": return textOf(event["grant_id"]) === "" ? next : line(`${nameOf(event)} may run`, "good", { detail: textOf(event["reason"]) });
    case "answer_accepted": return line("answered", "good", { detail: textOf(event["answered_by"]) });
    case "assistant_reply":
      if (event["is_partial"] === true) return { ...next, saying: next.saying + textOf(event["text"]) };
      return { ...line("answered", "planning", { detail: textOf(event["text"]) }), saying: "" };
    case "run_completed": return { ...line(textOf(event["status"]), event["status"] !== "completed" ? "bad" : isLost(next) ? "" : "good", { detail: textOf(event["error"]) }), status: textOf(event["status"]), saying: "" };
    case "toolset_dropped": return line(`without ${textOf(event["toolset"])}`, "waiting", { detail: textOf(event["reason"]) });
    case "events_dropped": return line("events were lost", "bad", { detail: `${numberOf(event["count"])} of them` });
    case "run_phase": case "run_stream_end": case "tool_args_delta": return next;
    default: return line(textOf(event["type"]), "", {});
  }
}

/** Whether a call of it has ended, and nobody knows how. */
function isLost({ lines }: Timeline): boolean {
  return lines.some((line) => line.events.at(-1)?.["status"] === "unknown");
}

function changed(timeline: Timeline, key: string, event: JsonObject, change: Partial<Line>): Timeline {
  return { ...timeline, lines: timeline.lines.map((line) => (line.key === key ? { ...line, ...change, events: [...line.events, event] } : line)) };
}

function nameOf(event: JsonObject): string {
  return textOf(event["name"]) || textOf(event["tool"]).replace(/^.*\./, "");
}

export function toneOf(status: string): Tone {
  return status === "ok" ? "good" : status === "pending" || status === "suspended" ? "waiting" : "bad";
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : isObject(value) && typeof value["text"] === "string" ? value["text"] : "";
}

function numberOf(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}
