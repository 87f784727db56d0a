/**
 * The records of the HTTP surface of a toolgen runtime, as they are sent.
 *
 * Texts of models, people, tools and schemas are returned as they were written. Escape hidden and bidirectional characters
 * before you show them.
 *
 * Integers come as JavaScript reads them: beyond 2^53 they are rounded.
 */

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What stands in the place of a sensitive value, which nobody is sent. */
export interface Hidden {
  sensitive: true;
}

/** How a call ended, or why it has not ended yet. */
export type Status = "ok" | "error" | "denied" | "pending" | "suspended" | "unknown" | "running";

/** What is wrong with one value of a document. */
export interface Issue {
  /** Where it is, as a JSONPath such as `$.devices[0].id`. */
  path: string;
  /** Where it is, as a JSON Pointer such as `/devices/0/id`. */
  pointer: string;
  constraint:
    | "missing_field"
    | "unknown_field"
    | "invalid_type"
    | "invalid_enum_value"
    | "invalid_format"
    | "invalid_pattern"
    | "invalid_range"
    | "invalid_length"
    | "invalid_value"
    | "invalid_json";
  message: string;
  expected?: string;
  actual?: string;
  allowed?: Json[];
  limit?: Json;
}

/** How much of the data a bounded result shows. */
export interface Bounds {
  returned: number;
  truncated: boolean;
  total?: number;
  refinement_hint?: string;
  next_cursor?: string;
}

/** Full data beside a result, which no model sees. */
export interface Artifact<Kind extends string = string, Data = Json> {
  kind: Kind;
  media_type: string;
  /** Bytes of the data. */
  size: number;
  /** `sha256:` and the SHA-256 of the data in hexadecimal. */
  digest: string;
  /** How its author wants it shown. */
  view?: "chart.line" | "chart.bar" | "table" | "markdown" | "image";
  /** The data where it is small; `artifacts.load` has it always. */
  data?: Data;
  uri?: string;
  /** Where it is, relative to the surface. */
  href?: string;
  /** Why no store has it. */
  not_stored_reason?: string;
  /** Id of the tool, where the artifact is listed with its run. */
  tool?: string;
  tool_call_id?: string;
}

/** A document that was cut, because it was longer than the limit of the runtime; `isTruncated` tells. */
export interface Truncated {
  truncated_by: "toolgen's size limit";
  /** How long the whole of it is. */
  bytes: number;
  /** How long the beginning is. */
  shown: number;
  beginning: string;
  /** The artifact that has the whole of it. */
  uri?: string;
}

/** What is said of every failure. */
export interface ErrorFacts {
  message: string;
  issues?: Issue[];
  /** Arguments that the tool takes. */
  example?: Json;
  /** What stands behind the error, the nearest first. */
  causes?: string[];
  /** Under which the log of the server has more. */
  correlation_id?: string;
  /** Minimum number of issues beyond these. */
  more_issues?: number;
  /** False if the scheduler did not let the call begin. */
  has_begun?: boolean;
  is_retryable?: boolean;
  retry?: Retry;
}

/** How a call can be repaired or made again. */
export interface Retry {
  reason: string;
  /** Id of the tool to call, if it is another one. */
  tool?: string;
  restrict_to_tool?: boolean;
  missing_fields?: string[];
  /** Question for the person who knows what is missing. */
  question?: string;
  message?: string;
  /** Seconds until the next attempt. */
  after_s?: number;
}

/** The run of the agent that answered a call. */
export interface RunLink {
  run_id: string;
  /** Id. */
  agent: string;
  parent_run_id: string;
  parent_tool_call_id: string;
  /** Runs of agents behind the result. */
  children_count: number;
}

/** Duration and token usage of a call. */
export interface Telemetry {
  duration_s?: number;
  model?: string;
  input_tokens?: number;
  output_tokens?: number;
}

/** A failure that the design of a tool declares. */
export interface DeclaredError<Code extends string, Details = undefined> extends ErrorFacts {
  code: Code;
  details: Details;
}

/** A failure that no design declares. */
export interface OtherError extends ErrorFacts {
  code?:
    | "approval_unavailable"
    | "canceled"
    | "denied"
    | "invalid_arguments"
    | "malformed_response"
    | "missing_fields"
    | "rate_limited"
    | "timeout"
    | "tool_error"
    | "tool_unavailable";
}

/** A failure of a tool whose design nobody knows. */
export interface AnyError extends ErrorFacts {
  code?: string;
  details?: Json;
}

/** What a call has, however it ended. */
export interface CallFacts {
  id: string;
  /** Id of the tool. */
  tool: string;
  tool_call_id: string;
  /** The text for people. */
  display?: string;
  /** What it is suspended for. */
  suspensions?: Suspension[];
  run_link?: RunLink;
  telemetry?: Telemetry;
  /** The result ends the turn as it is. */
  is_final?: boolean;
  /** Who granted the call before, and when: `approved by NAME at TIME`. */
  approved_by?: string;
  trace?: { step: string; duration_s: number }[];
}

/** A call that has its result. */
export interface OkCall<Result, Kept> extends CallFacts {
  status: "ok";
  /** What the model reads. */
  result: Result;
  warnings?: undefined;
  bounds?: Bounds;
  /** The arguments that get the next page. */
  next_arguments?: Record<string, Json>;
  artifacts?: Kept[];
  /** Blocks of content of the Model Context Protocol. */
  content?: Json[];
}

/** A call of a lenient tool whose service answered what does not fit: any JSON, the values as received. */
export interface UnfitCall<Kept> extends Omit<OkCall<Json, Kept>, "warnings"> {
  /** Where the answer does not fit, and why; the first ones. */
  warnings: Issue[];
}

/** A call that failed. */
export interface ErrorCall<Declared> extends CallFacts {
  status: "error";
  error: Declared | OtherError;
}

/** A call that a person or a policy did not allow. */
export interface DeniedCall extends CallFacts {
  status: "denied";
  error: OtherError;
}

/** A call whose work goes on; it may have an acknowledgement. */
export interface PendingCall<Ack> extends CallFacts {
  status: "pending";
  result?: Ack;
}

/** A call that is suspended until a person answers. */
export interface SuspendedCall extends CallFacts {
  status: "suspended";
}

/** A call of which nobody knows whether it has run. */
export interface UnknownCall extends CallFacts {
  status: "unknown";
  error?: OtherError;
}

/** A call that is executed, or whose answer was accepted, without a result yet. */
export interface RunningCall extends CallFacts {
  status: "running";
}

/** A call, by its `status`; of a tool that has neither artifacts nor declared errors, unless they are given. */
export type Call<Result, Kept = never, Declared = never, Ack = never> =
  | OkCall<Result, Kept>
  | ErrorCall<Declared>
  | DeniedCall
  | PendingCall<Ack>
  | SuspendedCall
  | UnknownCall
  | RunningCall;

/** A call of a lenient tool: if it has `warnings`, its result may not be of its type. */
export type LenientCall<Result, Kept = never, Declared = never, Ack = never> =
  | Call<Result, Kept, Declared, Ack>
  | UnfitCall<Kept>;

/** A call of a tool whose design nobody knows. */
export type AnyCall = LenientCall<Json, Artifact, AnyError, Json>;

/** A suspended call, a question of the planner of a run, or a pause. */
export interface Suspension {
  id: string;
  run_id: string;
  kind:
    | "confirmation"
    | "input"
    | "credential"
    | "pending"
    | "clarification"
    | "questions"
    | "external"
    | "pause";
  /** Only what is `sealed` is as it was frozen, and can be approved. */
  seal: "sealed" | "unsealed" | "tampered";
  session_id?: string;
  tool?: string;
  tool_call_id?: string;
  agent?: string;
  question?: string;
  preview?: string;
  /** The question or the preview shows only a part of a value; the arguments have all of it. */
  is_shortened?: boolean;
  /** All that will run, as it was frozen. */
  arguments?: Record<string, Json>;
  /** JSON Schema of the answer. */
  answer_schema?: Record<string, Json>;
  /** When it was asked, and until when it may be answered; seconds since 1970. */
  created_at?: number;
  expires_at?: number;
  /** What the tool calls the work that is pending. */
  handle?: string;
  /** What credential is missing. */
  request?: Record<string, Json>;
  /** The person for whom the call was made. */
  requested_by?: string;
  /** Why it is asked again. */
  reason?: string;
  /** Which question of its call it is. */
  number?: number;
}

/** An answer to a question for approval, with what the tool lets a person add. */
export interface Approval<Payload = never> {
  approved: boolean;
  message?: string;
  payload?: Payload;
  /** Approves further calls too; only where the `answer_schema` of the question has it. */
  grant?: GrantTerms;
}

/** Which further calls of the session an approval counts for. */
export interface GrantTerms {
  /** Conditions on the arguments, by JSON Pointer; without it the arguments can be any. */
  pattern?: Record<string, ArgumentCondition>;
  expires_s: number;
  /** Maximum number of calls. */
  uses: number;
}

/** What an argument must be: this value, one of these, or a path below this one. */
export type ArgumentCondition = { equal: Json } | { one_of: Json[] } | { path_prefix: string };

/** An approval that counts for further calls of its tool in its session. */
export interface Grant {
  id: string;
  tool: string;
  session_id: string;
  agent?: string;
  requested_by?: string;
  granted_by: string;
  /** Seconds since 1970, as `expires_at`. */
  granted_at: number;
  expires_at: number;
  /** Maximum number of calls. */
  uses: number;
  /** Number of calls that have used it. */
  used: number;
  pattern?: Record<string, ArgumentCondition>;
  /** The pattern as a sentence for people. */
  covers: string;
}

/** An answer to a missing credential, which never holds it. */
export interface CredentialAnswer {
  available: boolean;
  message?: string;
}

/** An answer to pending work: its result, or why there is none. */
export type WorkAnswer<Result> = Result | { error: string };

/** What an answer led to. */
export interface Answered {
  suspension_id: string;
  run_id: string;
  /** Who answered: the id of the caller. */
  answered_by: string;
  call?: AnyCall;
}

/** What the provider of a model says of a reply; what it does not say is missing. */
export interface Provider {
  finish_reason?: "stop" | "length" | "content_filter" | "tool_call" | "error";
  /** The provider's own word. */
  provider_finish_reason?: string;
  citations?: Citation[];
}

/** A source that the provider of a model cites for a part of a reply. */
export interface Citation {
  url?: string;
  /** The provider's own id of a file or a document. */
  document?: string;
  title?: string;
  /** Range of the reply's text, in Unicode code points, which `Array.from(text)` counts too. */
  start?: number;
  end?: number;
  /** The range is a marker or a link that the model wrote, and not the text it supports. */
  is_marker?: boolean;
}

/** A run of an agent, or of a call. */
export interface Run<Agent extends string = string> {
  id: string;
  kind: "agent" | "call" | "other";
  status: "running" | "waiting" | "completed" | "failed" | "canceled";
  session_id?: string;
  agent?: Agent;
  tool?: string;
  turn_id?: string;
  parent_run_id?: string;
  /** The person for whom it runs. */
  requested_by?: string;
  message?: string;
  /** What the agent answered. */
  text?: string;
  /** What the agent answered, where its answer is typed. */
  result?: Json;
  /** What the provider of the model says of the text. */
  provider?: Provider;
  /** Status of the call of a run. */
  call_status?: string;
  /** Why the agent stopped. */
  stop_reason?: string;
  error?: string;
  suspensions?: Suspension[];
  pending?: Suspension[];
  artifacts?: Artifact[];
  children?: string[];
  /** Calls of which nobody knows whether they have run. */
  unknown_calls?: string[];
  usage?: { model?: string; input_tokens: number; output_tokens: number; duration_s: number };
  tool_calls?: number;
}

/** A conversation. */
export interface Session<Agent extends string = string> {
  id: string;
  agent: Agent;
  /** Seconds since 1970. */
  created_at: number;
  /** The beginning of what a person said first; of lists. */
  message?: string;
  ended_at?: number;
  labels?: Record<string, string>;
}

/** What a person said, what an agent said and called, or what its calls returned. */
export type Message =
  | { type: "user"; text: string; source: string; files?: MessageFile[] }
  | {
      type: "assistant";
      text?: string;
      provider?: Provider;
      calls?: { id: string; name: string; arguments: Json }[];
    }
  | { type: "tools"; answers: ToolAnswer[] };

/** A file that is sent with a message. */
export interface Upload {
  name: string;
  /** Such as `image/png`; the data has to be of it. */
  media_type: string;
  /** Base64. */
  data: string;
}

/** A file that came with a message. */
export interface MessageFile {
  name: string;
  media_type: string;
  /** Bytes. */
  size: number;
  uri: string;
  href: string;
}

/** What a call of a conversation returned. */
export interface ToolAnswer {
  id: string;
  name: string;
  status: Status;
  result?: Json;
  bounds?: Bounds;
  artifacts?: Artifact[];
  resolved_by?: string;
}

/** A message of a person, and all that answered it. */
export interface Turn<Agent extends string = string> {
  run_id: string;
  turn_id: string;
  agent: Agent;
  /** Seconds since 1970. */
  started_at: number;
  messages: Message[];
}

/** A tool of a catalog; the format of catalogs describes it. */
export interface CatalogTool {
  id: string;
  name: string;
  [key: string]: Json;
}

/** `tool_schemas.json` of the tools that the caller is offered. */
export interface Catalog {
  catalog: { format: number; design: string; digest: string; [key: string]: Json };
  types?: Record<string, Json>;
  tools: CatalogTool[];
  [key: string]: Json | undefined;
}
