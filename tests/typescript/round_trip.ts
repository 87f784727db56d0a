/** Uses the generated client of examples/home against a served surface, and prints what it got as JSON. */

import { Client, isTruncated, Problem, Surface } from "./toolgen/index.js";
import type { maintenance, Problem as Refusal, RuntimeEvent, tariffs } from "./toolgen/index.js";

declare const process: { argv: string[] };

const [, , baseUrl = "", token = ""] = process.argv;
const client = new Client({ baseUrl, token });
const session = { session: "s-mira" };

/** Return the problem that a request is refused with. */
async function refusal(request: Promise<unknown>): Promise<Refusal> {
  const reason: unknown = await request.then(
    () => new Error("it was not refused"),
    (error: unknown) => error,
  );
  if (reason instanceof Problem) return reason;
  throw reason;
}

/** Return a `fetch` whose first connections are lost, or fall silent, once so many bytes have come. */
function cutting(bytes: number, isSilent: boolean): { fetch: typeof fetch; connections: string[] } {
  const connections: string[] = [];
  return {
    connections,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      connections.push(new Headers(init?.headers).get("last-event-id") ?? "");
      let left = connections.length < 4 ? bytes : Infinity;
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          if (left > 0) controller.enqueue(chunk.subarray(0, left));
          left -= chunk.length;
          if (left < 0 && !isSilent) controller.terminate();
        },
      });
      const { status, headers } = response;
      return new Response(response.body?.pipeThrough(cut) ?? null, { status, headers });
    },
  };
}

async function calls(): Promise<object> {
  const first = await client.tools.devices.listDevices({ site_id: "harbour", limit: 20 }, session);
  if (first.status !== "ok") throw new Error(first.status);
  const { devices, returned, truncated } = first.result;
  const next = await client.call(first.tool, first.next_arguments, { ...session, trace: true });
  const key = { ...session, idempotencyKey: "dim-1" };
  const command = { device_id: "h09", command: { kind: "dim", level: 40 } } as const;
  const once = await client.tools.devices.setState(command, key);
  const again = await client.tools.devices.setState(command, key);
  const prices = await client.tools.tariffs.getPrices({ tariff: "nowhere" }, session);
  return {
    first: { names: devices.map((device) => device.name), returned, truncated, isTruncated: isTruncated(first.result) },
    next: { status: next.status, steps: next.trace?.length, bounds: next.status === "ok" && next.bounds },
    once: { id: once.id, same: once.id === again.id, kept: (await client.calls.get(once.id)).status },
    prices: failure(prices),
  };
}

/** Return the details of the error that the design declares. */
function failure(call: tariffs.GetPricesCall): string[] {
  if (call.status !== "error") return [call.status];
  return call.error.code === "unknown_tariff" ? [call.error.code, ...call.error.details.known] : [call.error.message];
}

async function refused(): Promise<object> {
  const wrong: { site_id: string } = { site_id: "harbour", limit: 0, color: "red" } as { site_id: string };
  const misfit = await refusal(client.tools.devices.listDevices(wrong, session));
  const nobody = await refusal(new Surface({ baseUrl, token: "x" }).catalog());
  const unknown = await refusal(client.call("no.such.tool"));
  return {
    misfit: misfit.is("invalid-arguments") && misfit.issues.map((issue) => [issue.pointer, issue.constraint]),
    nobody: [nobody.status, nobody.is("unauthenticated")],
    unknown: [unknown.status, unknown.type, unknown.message],
  };
}

async function artifacts(): Promise<object> {
  const payload = { device_id: "h23", start: "2026-01-01T00:00:00Z", end: "2026-01-29T00:00:00Z" };
  const call = await client.tools.devices.getTimeSeries(payload, session);
  const series = call.status === "ok" ? call.artifacts?.[0] : undefined;
  if (series?.uri === undefined) throw new Error(call.status);
  const { readings } = await client.artifacts.load(series);
  const part = await client.artifacts.fetch(series.uri, { range: "bytes=0-9" });
  const linked = await fetch(client.artifacts.url(series.uri), { headers: { authorization: `Bearer ${token}` } });
  return {
    kind: series.kind,
    isInline: series.data !== undefined,
    readings: readings.length,
    part: [part.status, (await part.text()).length],
    linked: (await linked.text()).length === series.size,
  };
}

async function waits(): Promise<object> {
  const asked = await client.tools.maintenance.factoryReset({ device_id: "h10" }, session);
  const [wait] = asked.suspensions ?? [];
  if (wait === undefined) throw new Error(asked.status);
  const listed = (await client.suspensions.list(session)).suspensions.map((each) => each.id);
  const unfit = await refusal(client.suspensions.answer(wait.id, { approved: true, payload: { keep_on: 3 } }));
  const yes: maintenance.FactoryResetAnswer = { approved: true, payload: { keep_on: true } };
  const answered = await client.suspensions.answer(wait.id, yes, { waitSeconds: 30 });

  const other = await client.tools.maintenance.factoryReset({ device_id: "h11" }, session);
  const taken = await client.suspensions.cancel(other.suspensions?.[0]?.id ?? "", "not today");

  const pending = await client.tools.maintenance.updateFirmware({ device_id: "h10", version: "2.4.0" }, session);
  const work = pending.suspensions?.[0]?.id ?? "";
  const result: maintenance.UpdateFirmwareAnswer = { version: "2.4.0" };
  const done = await client.suspensions.answer((await client.suspensions.get(work)).id, result);
  return {
    asked: [asked.status, wait.kind, wait.question, wait.arguments],
    listed: listed.includes(wait.id),
    unfit: [unfit.is("invalid-answer"), unfit.status],
    answered: [answered.call?.status, answered.suspension_id === wait.id],
    taken: taken.call?.status === "denied" && [taken.call.error.code, taken.call.error.message],
    pending: pending.status === "pending" && pending.result,
    done: done.call?.status === "ok" && done.call.result,
    left: (await client.suspensions.list(session)).suspensions.length,
  };
}

/** Follow a run whose stream is cut off or falls silent several times. */
async function followed(id: string, isSilent: boolean): Promise<Record<string, unknown> & { last: string }> {
  const { fetch, connections } = cutting(3000, isSilent);
  const states: string[] = [];
  const events = new Client({ baseUrl, token, fetch }).runs.events(id, {
    onConnection: (state) => states.push(state),
    silenceSeconds: isSilent ? 0.3 : undefined,
  });
  const seen: RuntimeEvent[] = [];
  for await (const event of events) seen.push(event);
  const numbers = seen.map((event) => event.seq).filter((seq) => seq > 0);
  return {
    types: [seen[0]?.type, seen.at(-1)?.type],
    isWhole: numbers.every((seq, place) => seq === place + 1) && String(numbers.length) === events.lastEventId,
    resumed: connections.length > 1 && connections.slice(1).every((last) => Number(last) > 0),
    states: [states[0], states.includes("lost"), states.at(-1)],
    last: events.lastEventId,
  };
}

async function runs(): Promise<object> {
  const message = "Which lights at the harbour do not answer?";
  const run = await client.runs.start({ agent: "assistant.chat", message, ...session }, { idempotencyKey: "run-1" });
  const cut = await followed(run.id, false);
  const silent = await followed(run.id, true);
  const count = Number(cut.last);
  const late: string[] = [];
  for await (const event of client.runs.events(run.id, { lastEventId: "2" })) late.push(event.type);
  const over = client.runs.events(run.id, { lastEventId: cut.last });
  const after = await over[Symbol.asyncIterator]().next();

  const ended = await client.runs.get(run.id);
  const { turns } = await client.sessions.messages("s-mira");
  const further = await client.sessions.send("s-mira", message);
  const listed = await client.runs.list({ ...session, limit: 1 });
  const sessions = await client.sessions.list();
  return {
    cut,
    silent,
    late: late.length === count - 2,
    after: after.done,
    ended: [ended.status, ended.agent, ended.text],
    turns: turns.map((turn) => turn.messages.map((each) => each.type)),
    further: further.id !== run.id && listed.runs.length === 1,
    sessions: sessions.sessions.map((each) => each.id),
  };
}

async function told(): Promise<object> {
  const aborter = new AbortController();
  const events = client.events({ types: ["tool_end"], signal: aborter.signal, ...session });
  const ends: string[] = [];
  const reading = (async () => {
    for await (const event of events) {
      if (event.type !== "tool_end" || event.tool !== "assistant.documents.search") continue;
      ends.push(`${event.tool} ${event.status}`);
      aborter.abort();
    }
  })();
  while (ends.length === 0) await client.tools.documents.search({ query: "factory reset" }, session);
  await reading;
  return { ends, isResumable: events.lastEventId.includes(".") };
}

const catalog = await client.catalog();
const agents = await client.agents();
const results = {
  catalog: [catalog.tools.length > 5, (await client.catalog()) === catalog, agents.map((agent) => agent.id)],
  calls: await calls(),
  refused: await refused(),
  artifacts: await artifacts(),
  waits: await waits(),
  runs: await runs(),
  told: await told(),
};
console.log(JSON.stringify(results));
