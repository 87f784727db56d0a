/**
 * A client of the HTTP surface of a toolgen runtime with any design; typed clients of a design build on it.
 *
 * It needs only `fetch`.
 */

import type { RuntimeEvent } from "./events.js";
import type {
  Answered,
  AnyCall,
  Artifact,
  Catalog,
  Grant,
  Issue,
  Json,
  Run,
  Session,
  Suspension,
  Truncated,
  Turn,
  Upload,
} from "./records.js";

export type * from "./events.js";
export type * from "./records.js";

/** Why a request was refused. */
export type ProblemName =
  | "invalid-request"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "unknown-tool"
  | "method-not-allowed"
  | "request-timeout"
  | "conflict"
  | "suspension-ended"
  | "not-sealed"
  | "content-too-large"
  | "unsupported-media-type"
  | "misdirected-request"
  | "invalid-arguments"
  | "invalid-answer"
  | "idempotency-key-reused"
  | "too-many-requests"
  | "internal-error"
  | "not-implemented"
  | "unavailable";

/** A request that was refused, as problem details (RFC 9457). */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  /** `urn:toolgen:problem:` and its name; `about:blank` if a proxy answered. */
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  readonly hint: string;
  /** Issues of the document that was sent. */
  readonly issues: readonly Issue[];
  /** Names of the arguments of the tool. */
  readonly example: Json | undefined;
  /** Seconds after which to retry the request. */
  readonly retryAfter: number | undefined;

  constructor(status: number, facts: ProblemFacts, retryAfter?: number) {
    const title = facts.title ?? `HTTP ${String(status)}`;
    super(facts.detail ? `${title}: ${facts.detail}` : title);
    this.status = status;
    this.type = facts.type ?? "about:blank";
    this.title = title;
    this.detail = facts.detail ?? "";
    this.hint = facts.hint ?? "";
    this.issues = facts.issues ?? [];
    this.example = facts.example;
    this.retryAfter = retryAfter;
  }

  /** Return whether the problem has this name. */
  is(name: ProblemName): boolean {
    return this.type === `urn:toolgen:problem:${name}`;
  }
}

/** The document of a problem. */
export interface ProblemFacts {
  type?: string;
  title?: string;
  detail?: string;
  hint?: string;
  issues?: Issue[];
  example?: Json;
}

/** Address of a surface, and the token of the caller. */
export interface SurfaceOptions {
  /** Address of the mount, such as `https://host/agent-tools`; "" for the origin of the page. */
  baseUrl: string;
  /** Bearer token, or a function that returns one for each request. */
  token?: string | (() => string | Promise<string>) | undefined;
  /** Replacement of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** Options of a request. */
export interface RequestOptions {
  signal?: AbortSignal | undefined;
}

/** Options of a request with effects; requests with the same key are executed once. */
export interface KeyOptions extends RequestOptions {
  idempotencyKey?: string | undefined;
}

/** Options of a call. */
export interface CallOptions extends KeyOptions {
  session?: string | undefined;
  /** Whether to return the times of the steps of the call. */
  trace?: boolean | undefined;
}

/** Options of a page of a list. */
export interface PageOptions extends RequestOptions {
  limit?: number | undefined;
  /** `next` of the previous page. */
  after?: string | undefined;
}

/** Filters of a list. */
interface Filter {
  limit?: number | undefined;
  after?: string | undefined;
  status?: string | undefined;
  session?: string | undefined;
  run?: string | undefined;
}

/** Options of a stream of events. */
export interface StreamOptions extends RequestOptions {
  /** `lastEventId` of an earlier stream, after which to continue. */
  lastEventId?: string | undefined;
  /** Seconds without any data after which a stream counts as lost; 45 by default. */
  silenceSeconds?: number | undefined;
  /** Called when the stream is open, and when it was lost and is opened again. */
  onConnection?: ((state: "open" | "lost") => void) | undefined;
}

type Query = Record<string, string | number | undefined>;

interface Sent extends KeyOptions {
  query?: Query;
  body?: object;
  headers?: Record<string, string>;
}

/** Sends requests to one surface. */
class Door {
  readonly #options: SurfaceOptions;
  readonly #fetch: typeof fetch;

  constructor(options: SurfaceOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** Return the response, whose status is successful or 304. */
  async send(method: string, path: string, sent: Sent = {}): Promise<Response> {
    const headers = new Headers({ accept: "application/json", ...sent.headers });
    const { token } = this.#options;
    const bearer = typeof token === "function" ? await token() : token;
    if (bearer) headers.set("authorization", `Bearer ${bearer}`);
    if (sent.idempotencyKey) headers.set("idempotency-key", sent.idempotencyKey);
    if (sent.body) headers.set("content-type", "application/json");
    const fetch = this.#fetch; // which takes no other `this`
    const response = await fetch(this.url(path, sent.query), {
      method,
      headers,
      body: sent.body ? JSON.stringify(sent.body) : null,
      signal: sent.signal ?? null,
    });
    if (response.ok || response.status === 304) return response;
    throw await problemOf(response);
  }

  async json(method: string, path: string, sent?: Sent): Promise<unknown> {
    return (await this.send(method, path, sent)).json();
  }

  url(path: string, query: Query = {}): string {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
    return `${this.#options.baseUrl.replace(/\/+$/, "")}${path}${search && `?${search}`}`;
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const after = Number(response.headers.get("retry-after") ?? "");
  const isProblem = (response.headers.get("content-type") ?? "").includes("json");
  const text = await response.text();
  const facts = isProblem ? (JSON.parse(text) as ProblemFacts) : { detail: text.slice(0, 200) };
  return new Problem(response.status, facts, after > 0 ? after : undefined);
}

/** Calls in the ledger. */
export class Calls {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Return a call by its id, if it had a key or was suspended. */
  async get(id: string, options?: RequestOptions): Promise<AnyCall> {
    return (await this.#door.json("GET", at`/calls/${id}`, options)) as AnyCall;
  }
}

/** Suspended calls, questions of planners, and pauses. */
export class Suspensions {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Return a page of suspended calls, questions and pauses, oldest first. */
  async list(
    options: PageOptions & { session?: string; run?: string } = {},
  ): Promise<{ suspensions: Suspension[]; next?: string }> {
    return (await this.#door.json("GET", "/suspensions", paged(options))) as { suspensions: Suspension[]; next?: string };
  }

  /** Return one suspension; `run` is its run, which makes the search faster. */
  async get(id: string, options: RequestOptions & { run?: string } = {}): Promise<Suspension> {
    return (await this.#door.json("GET", at`/suspensions/${id}`, paged(options))) as Suspension;
  }

  /** Answer by `answer_schema`: with an `Approval`, a `CredentialAnswer`, a result, or an answer to the question. */
  async answer(id: string, answer: unknown, options: WaitOptions = {}): Promise<Answered> {
    const body = { answer, wait_s: options.waitSeconds };
    return (await this.#door.json("POST", at`/suspensions/${id}/answer`, { ...signalOf(options), body })) as Answered;
  }

  /** Send an intermediate result of pending work; the same key and value are sent once. */
  async intermediate(id: string, key: string, value: unknown, options?: RequestOptions): Promise<Answered> {
    const body = { key, value };
    return (await this.#door.json("POST", at`/suspensions/${id}/intermediate`, { ...options, body })) as Answered;
  }

  /** Cancel a question; its call is denied with the reason. */
  async cancel(id: string, reason = "", options?: RequestOptions): Promise<Answered> {
    const body = { reason };
    return (await this.#door.json("POST", at`/suspensions/${id}/cancel`, { ...options, body })) as Answered;
  }
}

/** Options of an answer. */
export interface WaitOptions extends RequestOptions {
  waitSeconds?: number | undefined;
}

/** Runs of agents, and of calls. */
export class Runs<Agent extends string = string> {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Return a page of the runs, newest first; `unknown` selects those with a call of unknown outcome. */
  async list(
    options: PageOptions & { status?: Run["status"] | "unknown"; session?: string } = {},
  ): Promise<{ runs: Run<Agent>[]; next?: string }> {
    return (await this.#door.json("GET", "/runs", paged(options))) as { runs: Run<Agent>[]; next?: string };
  }

  /** Start a turn of an agent with a message. */
  async start(
    run: { agent: Agent; message: string; session?: string; files?: Upload[] },
    options?: KeyOptions,
  ): Promise<Run<Agent>> {
    return (await this.#door.json("POST", "/runs", { ...options, body: run })) as Run<Agent>;
  }

  async get(id: string, options?: RequestOptions): Promise<Run<Agent>> {
    return (await this.#door.json("GET", at`/runs/${id}`, options)) as Run<Agent>;
  }

  async cancel(id: string, reason = "", options?: RequestOptions): Promise<Run<Agent>> {
    const body = { reason };
    return (await this.#door.json("POST", at`/runs/${id}/cancel`, { ...options, body })) as Run<Agent>;
  }

  /** Record the outcome of a call whose outcome is unknown. */
  async resolve(id: string, found: Resolution, options?: RequestOptions): Promise<AnyCall> {
    return (await this.#door.json("POST", at`/runs/${id}/resolve`, { ...options, body: found })) as AnyCall;
  }

  /** Return the events of a run, from its first to its last one or from `lastEventId` on. */
  events(id: string, options: StreamOptions = {}): EventStream {
    return new EventStream(this.#door, at`/runs/${id}/events`, {}, options, id);
  }
}

/** Outcome of a call that a person found out. */
export interface Resolution {
  tool_call_id?: string;
  outcome: "result" | "failed" | "not_run";
  result?: unknown;
  message?: string;
}

/** Conversations. */
export class Sessions<Agent extends string = string> {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Return a page of the sessions, newest first. */
  async list(
    options: PageOptions & { status?: string } = {},
  ): Promise<{ sessions: Session<Agent>[]; next?: string }> {
    const answer = await this.#door.json("GET", "/sessions", paged(options));
    return answer as { sessions: Session<Agent>[]; next?: string };
  }

  /** Return all messages of a session. */
  async messages(id: string, options?: RequestOptions): Promise<{ session: Session<Agent>; turns: Turn<Agent>[] }> {
    const answer = await this.#door.json("GET", at`/sessions/${id}/messages`, options);
    return answer as { session: Session<Agent>; turns: Turn<Agent>[] };
  }

  /** Send a message to a session, which starts a turn; `agent` creates a new session. */
  async send(
    id: string,
    message: string,
    options: KeyOptions & { agent?: Agent; files?: Upload[] } = {},
  ): Promise<Run<Agent>> {
    const { agent, files, ...sent } = options;
    const body = { message, agent, files };
    return (await this.#door.json("POST", at`/sessions/${id}/messages`, { ...sent, body })) as Run<Agent>;
  }

  /** Return the grants of a session that are neither expired nor revoked, newest first. */
  async grants(id: string, options?: RequestOptions): Promise<Grant[]> {
    return ((await this.#door.json("GET", at`/sessions/${id}/grants`, options)) as { grants: Grant[] }).grants;
  }

  /** Revoke a grant, and return the remaining ones. */
  async revoke(id: string, grant: string, options?: RequestOptions): Promise<Grant[]> {
    const answer = await this.#door.json("POST", at`/sessions/${id}/grants/${grant}/revoke`, { ...options, body: {} });
    return (answer as { grants: Grant[] }).grants;
  }
}

/** Artifacts of results. */
export class Artifacts {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Return the data of an artifact. */
  async load<Data>(artifact: Artifact<string, Data>, options?: RequestOptions): Promise<Data> {
    if (artifact.data !== undefined) return artifact.data;
    if (artifact.uri === undefined) throw new Error(artifact.not_stored_reason ?? "the artifact was not stored");
    return (await (await this.fetch(artifact.uri, options)).json()) as Data;
  }

  /** Return the response with the bytes of an artifact, or a range of them such as `bytes=0-1023`. */
  async fetch(uri: string, options: RequestOptions & { range?: string } = {}): Promise<Response> {
    const { range, ...sent } = options;
    const headers = { accept: "*/*", ...(range === undefined ? {} : { range }) };
    return this.#door.send("GET", "/artifacts", { ...sent, query: { uri }, headers });
  }

  /** Return the URL of an artifact. A link to it sends no token, so a page with a token uses `fetch`. */
  url(uri: string): string {
    return this.#door.url("/artifacts", { uri });
  }
}

const SILENCE_SECONDS = 45;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;

/** Live events; a stream that was lost continues after the last event with an id. */
export class EventStream implements AsyncIterable<RuntimeEvent> {
  /** Id of the last event that had one, after which another stream can continue. */
  lastEventId: string;
  readonly #door: Door;
  readonly #path: string;
  readonly #query: Query;
  readonly #options: StreamOptions;
  readonly #run: string;

  /** Create a stream that is not open yet; with `run`, it ends with this run. */
  constructor(door: Door, path: string, query: Query, options: StreamOptions, run = "") {
    this.lastEventId = options.lastEventId ?? "";
    this.#door = door;
    this.#path = path;
    this.#query = query;
    this.#options = options;
    this.#run = run;
  }

  /** Yield the events until the run has ended, the signal is aborted, or the surface refuses the stream. */
  async *[Symbol.asyncIterator](): AsyncGenerator<RuntimeEvent, void, undefined> {
    const { signal, onConnection } = this.#options;
    let first = FIRST_DELAY_MS;
    let delay = first;
    while (!signal?.aborted) {
      const silence = new Silence(signal, this.#options.silenceSeconds ?? SILENCE_SECONDS);
      try {
        const response = await silence.until(this.#open(silence.signal));
        if (response.status === 204 || response.body === null) return;
        onConnection?.("open");
        for await (const { id, data, retry } of messages(response.body, silence)) {
          first = retry ?? first;
          delay = first;
          if (data === undefined) continue;
          const event = JSON.parse(data) as RuntimeEvent;
          this.lastEventId = id ?? this.lastEventId;
          yield event;
          if (signal?.aborted || this.#isLast(event)) return;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (error instanceof SyntaxError || (error instanceof Problem && !isPassing(error))) throw error;
        if (error instanceof Problem && error.retryAfter) delay = error.retryAfter * 1000;
      } finally {
        silence.end();
      }
      onConnection?.("lost");
      await pause(delay, signal);
      delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    }
  }

  #isLast(event: RuntimeEvent): boolean {
    return this.#run !== "" && event.type === "run_stream_end" && event.run_id === this.#run;
  }

  #open(signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (this.lastEventId) headers["last-event-id"] = this.lastEventId;
    return this.#door.send("GET", this.#path, { query: this.#query, headers, signal });
  }
}

function isPassing(problem: Problem): boolean {
  return problem.status === 429 || problem.status >= 502;
}

/** Aborts a stream that receives no data, not even a comment. */
class Silence {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();

  readonly #seconds: number;

  constructor(outer: AbortSignal | undefined, seconds: number) {
    this.#seconds = seconds;
    this.signal = outer ? AbortSignal.any([outer, this.#controller.signal]) : this.#controller.signal;
  }

  /** Return the next data, if it arrives in time. */
  async until<Value>(coming: Promise<Value>): Promise<Value> {
    const timer = setTimeout(() => {
      this.end();
    }, this.#seconds * 1000);
    try {
      return await coming;
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.#controller.abort();
  }
}

interface StreamMessage {
  id?: string;
  data?: string;
  /** Milliseconds after which to reconnect. */
  retry?: number;
}

/** Yield the messages of a stream (WHATWG HTML, 9.2.6). */
async function* messages(
  body: ReadableStream<Uint8Array>,
  silence: Silence,
): AsyncGenerator<StreamMessage, void, undefined> {
  let message: StreamMessage = {};
  for await (const line of lines(body, silence)) {
    if (line === "") {
      yield message;
      message = {};
      continue;
    }
    const [, field, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "data") message.data = message.data === undefined ? value : `${message.data}\n${value}`;
    if (field === "id") message.id = value;
    if (field === "retry" && /^\d+$/.test(value)) message.retry = Number(value);
  }
}

async function* lines(
  body: ReadableStream<Uint8Array>,
  silence: Silence,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await silence.until(reader.read());
    if (done) return;
    // A carriage return at the end may be half of a line break.
    const parts = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** Return whether a result or another document was shortened because it was too long. */
export function isTruncated(document: unknown): document is Truncated {
  const isObject = typeof document === "object" && document !== null && "truncated_by" in document;
  return isObject && document.truncated_by === "toolgen's size limit";
}

/** Return a path, with each value as one segment of it. */
function at(texts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: texts }, ...values.map(encodeURIComponent));
}

/** Return the query parameters of the options of a list. */
function paged({ signal, ...query }: RequestOptions & Filter): Sent {
  return { query: { ...query }, signal };
}

function signalOf(options: RequestOptions): RequestOptions {
  return { signal: options.signal };
}

/** A client of any runtime; the client of a design also has its tools by name. */
export class Surface<Agent extends string = string> {
  readonly calls: Calls;
  readonly suspensions: Suspensions;
  readonly runs: Runs<Agent>;
  readonly sessions: Sessions<Agent>;
  readonly artifacts: Artifacts;
  readonly #door: Door;
  #catalog: { etag: string; document: Catalog } | undefined;

  constructor(options: SurfaceOptions) {
    const door = new Door(options);
    this.#door = door;
    this.calls = new Calls(door);
    this.suspensions = new Suspensions(door);
    this.runs = new Runs(door);
    this.sessions = new Sessions(door);
    this.artifacts = new Artifacts(door);
  }

  /** Call a tool by its id. Throws a problem if it was not called, for example because of its arguments. */
  async call(tool: string, args: object = {}, options: CallOptions = {}): Promise<AnyCall> {
    const { session, trace, ...sent } = options;
    const body = { arguments: args, session, trace };
    return (await this.#door.json("POST", at`/tools/${tool}/calls`, { ...sent, body })) as AnyCall;
  }

  /** Return the catalog; the same object as before if it has not changed. */
  async catalog(options?: RequestOptions): Promise<Catalog> {
    const known = this.#catalog;
    const headers: Record<string, string> = known ? { "if-none-match": known.etag } : {};
    const response = await this.#door.send("GET", "/catalog", { ...options, headers });
    if (response.status === 304 && known) return known.document;
    const document = (await response.json()) as Catalog;
    const etag = response.headers.get("etag");
    this.#catalog = etag ? { etag, document } : undefined;
    return document;
  }

  /** Return the agents, each with the names of its tools. */
  async agents(options?: RequestOptions): Promise<{ id: Agent; tools: string[] }[]> {
    const answer = (await this.#door.json("GET", "/agents", options)) as {
      agents: { id: Agent; tools: string[] }[];
    };
    return answer.agents;
  }

  /** Return the events of all sessions of the caller. */
  events(options: StreamOptions & { session?: string; types?: RuntimeEvent["type"][] } = {}): EventStream {
    const { session, types, ...stream } = options;
    return new EventStream(this.#door, "/events", { session, types: types?.join(",") }, stream);
  }
}
