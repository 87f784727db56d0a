/**
 * The events of a toolgen runtime, format 2, as their streams have them.
 *
 * Within a format events and fields are added, never changed or removed.
 */

import type { AnyError, Artifact, Bounds, Issue, Json, Provider, RunLink, Telemetry } from "./records.js";

/** An event, told apart by its `type`. */
export type RuntimeEvent =
  | RunStarted
  | RunPhase
  | ToolStart
  | ToolArgsDelta
  | ToolUpdate
  | ToolOutputDelta
  | ToolEnd
  | AgentRunStarted
  | QuestionAsked
  | ApprovalRequested
  | InputRequested
  | AnswerAccepted
  | ToolAuthorization
  | PlannerThought
  | PlanRetry
  | AssistantReply
  | Usage
  | StateChanged
  | StateConflict
  | ArtifactSaved
  | MemoryPreloaded
  | ToolsetDropped
  | EventsDropped
  | RunCompleted
  | RunStreamEnd;

/** The number, time and ids of an event; filled by `Events.emit`. */
export interface EventHead {
  format: 2;
  /** Number per run, from 1 without gaps; 0 in no log, of a subscription or a call of a tool. */
  seq: number;
  /** Seconds since 1970. */
  time: number;
  run_id: string;
  session_id: string;
  turn_id: string;
  tool_call_id: string;
  /** Agent of the run, or of the run that makes the call. Every ID is "" if it does not apply. */
  agent_id: string;
}

/** A run began; its first event. */
export interface RunStarted extends EventHead {
  type: "run_started";
  agent: string;
  parent_run_id: string;
}

/** A run entered its next phase. */
export interface RunPhase extends EventHead {
  type: "run_phase";
  phase: "prompted" | "planning" | "executing_tools" | "synthesizing" | "waiting";
}

/** A call's arguments are decoded, and its executor is about to run. */
export interface ToolStart extends EventHead {
  type: "tool_start";
  /** Id of the tool, as in all events. */
  tool: string;
  /** The wire name. */
  name: string;
  /** The model's arguments, decoded; never with injected values. */
  arguments: Json;
  /** The text for people: the tool's call hint, filled. */
  text: string;
  parent_tool_call_id: string;
  /** Whether a second execution could repeat an effect of the first one. */
  runs_once: boolean;
}

/** A piece of the arguments while the model writes them; best effort. */
export interface ToolArgsDelta extends EventHead {
  type: "tool_args_delta";
  /** The wire name, as the model wrote it. */
  name: string;
  delta: string;
}

/**
 * The progress of a call, best effort; or an intermediate result, which is in the log of its run.
 */
export interface ToolUpdate extends EventHead {
  type: "tool_update";
  tool: string;
  /** Fraction of the work that is done, from 0 to 1; null if unknown. */
  fraction: number | null;
  message: string;
  /** Progress value, encoded by the tool's progress codec. */
  value: Json;
  /** The number of an intermediate result of the call, from 1; 0 for progress. */
  number: number;
}

/** A piece of output before the result is there; best effort. */
export interface ToolOutputDelta extends EventHead {
  type: "tool_output_delta";
  tool: string;
  text: string;
}

/** A call has its result: its `ResultDocument`, without sensitive values and content blocks. */
export interface ToolEnd extends EventHead {
  type: "tool_end";
  /** Id of the tool; the requested name if no tool has it. */
  tool: string;
  status: "ok" | "error" | "denied" | "pending" | "suspended" | "unknown";
  /** Result as the model reads it; null if there is none yet. */
  result?: Json;
  error?: AnyError | null;
  /** Text for people: the filled result hint of the tool, or the text of the executor. */
  display?: string;
  bounds?: Bounds | null;
  /** Issues in the response of a lenient service; the result contains these values as received. */
  warnings?: Issue[];
  artifacts?: Artifact[];
  is_final?: boolean;
  run_link?: RunLink | null;
  telemetry?: Telemetry | null;
  /** ID of the question; it cannot be used to answer. */
  suspension_id?: string;
  /** ID of the question whose answer led to this end. */
  answered_id?: string;
  /** Person who resolved a call whose outcome was unknown. */
  resolved_by?: string;
}

/** A tool call started the run of another agent. */
export interface AgentRunStarted extends EventHead {
  type: "agent_run_started";
  tool: string;
  agent: string;
  child_run_id: string;
}

/** The planner asks the person a question. */
export interface QuestionAsked extends EventHead {
  type: "question_asked";
  suspension_id: string;
  question: string;
  missing_fields: string[];
  kind: "clarification" | "questions" | "confirmation" | "external";
  /** JSON Schema of the answer; empty for a string. */
  answer_schema: Record<string, Json> | null;
  /** Reason why the question is asked again; "" for the first time. */
  reason: string;
}

/**
 * A person must approve a call. The token for the answer is in the result, for its client alone.
 */
export interface ApprovalRequested extends EventHead {
  type: "approval_requested";
  suspension_id: string;
  tool: string;
  question: string;
  preview: string;
  /** The question or the preview shows only a part of a value; the arguments have all of it. */
  is_shortened: boolean;
  /** All that will run, as it was frozen. */
  arguments: Json;
  /** JSON Schema. */
  answer_schema: Record<string, Json>;
  /** Seconds since 1970. */
  expires_at: number;
  /** Person for whom the call was made; "" if unknown. */
  requested_by: string;
  /** Reason why the question is asked again; "" for the first time. */
  reason: string;
}

/** A call needs a person's answer or a credential. The token is in the result, as above. */
export interface InputRequested extends EventHead {
  type: "input_requested";
  suspension_id: string;
  tool: string;
  kind: "input" | "credential";
  question: string;
  /** The arguments of the call that asks, as they were frozen. */
  arguments: Json;
  /** JSON Schema. */
  answer_schema: Record<string, Json>;
  /** Seconds since 1970. */
  expires_at: number;
  /** Person for whom the call was made; "" if unknown. */
  requested_by: string;
  /** Reason why the question is asked again; "" for the first time. */
  reason: string;
  /** Description of the missing credential, as the tool requested it; null for other questions. */
  request: Record<string, Json> | null;
}

/**
 * A call or a planner got the answer that it waited for; the answer itself is not in the event.
 *
 * After `ApprovalRequested` it is `ToolAuthorization` that says so.
 */
export interface AnswerAccepted extends EventHead {
  type: "answer_accepted";
  suspension_id: string;
  /** `confirmation` is one of a planner. */
  kind:
    | "input"
    | "credential"
    | "pending"
    | "clarification"
    | "questions"
    | "confirmation"
    | "external";
  /** "" for a planner. */
  tool: string;
  /** Person who answered, as named by the host. */
  answered_by: string;
}

/** A call was approved or denied. */
export interface ToolAuthorization extends EventHead {
  type: "tool_authorization";
  tool: string;
  decision: "approved" | "denied";
  /** `runtime` if nobody could be asked, the question was canceled, or the tool is disabled. */
  decided_by: "policy" | "person" | "runtime";
  reason: string;
  suspension_id: string;
  /** Person who answered, as named by the host. */
  answered_by: string;
  /** The grant by which the call was approved, without another question. */
  grant_id: string;
}

/** The planner's reasoning; best effort. */
export interface PlannerThought extends EventHead {
  type: "planner_thought";
  text: string;
}

/** A planning begins again; its texts, thoughts and arguments so far are discarded. */
export interface PlanRetry extends EventHead {
  type: "plan_retry";
  /** Number of the failed planning attempt, from 1. */
  attempt: number;
  /** Seconds until the next attempt; 0 if the model is asked again at once. */
  delay_s: number;
  reason: string;
}

/** Text for the person; the whole of it unless it is partial. */
export interface AssistantReply extends EventHead {
  type: "assistant_reply";
  text: string;
  is_partial: boolean;
  /** The model came to the limit of its tokens: the text just ends. */
  is_truncated: boolean;
  /** Provider data for the text, such as citations; null without any. */
  provider: Provider | null;
}

/** The token usage of one request to a model. */
export interface Usage extends EventHead {
  type: "usage";
  model: string;
  input_tokens: number;
  output_tokens: number;
}

/**
 * A successful call changed a key of the state; only those with access to the state see the value.
 */
export interface StateChanged extends EventHead {
  type: "state_changed";
  tool: string;
  scope: "app" | "user" | "session" | "temp";
  /** The key without its scope. */
  key: string;
  operation: "set" | "delete" | "append" | "add";
}

/** Parallel calls changed a key of the state in ways that its rule does not merge. */
export interface StateConflict extends EventHead {
  type: "state_conflict";
  scope: string;
  key: string;
  /** Ids of the calls, in their order. */
  tool_call_ids: string[];
  /** The call whose change was applied; "" if none was. */
  applied_tool_call_id: string;
}

/** An artifact was stored. */
export interface ArtifactSaved extends EventHead {
  type: "artifact_saved";
  name: string;
  version: number;
  media_type: string;
  /** Bytes. */
  size: number;
}

/** A planning got entries of earlier conversations; the event has none of their text. */
export interface MemoryPreloaded extends EventHead {
  type: "memory_preloaded";
  count: number;
  /** The memory failed; the planning went on without it. */
  has_failed: boolean;
}

/** A toolset could not be listed and is left out of the request. */
export interface ToolsetDropped extends EventHead {
  type: "toolset_dropped";
  toolset: string;
  reason: string;
}

/**
 * The reader was too slow, and events are missing here. The subscription adds this, with `seq` 0.
 */
export interface EventsDropped extends EventHead {
  type: "events_dropped";
  /** Number of events that are missing at this position. */
  count: number;
  /** Number of lost events since the subscription began. */
  total: number;
}

/** A run has ended. */
export interface RunCompleted extends EventHead {
  type: "run_completed";
  status: "completed" | "failed" | "canceled";
  error: string;
}

/** The last event of a run. */
export interface RunStreamEnd extends EventHead {
  type: "run_stream_end";
}
