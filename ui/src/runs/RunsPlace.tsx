/** Runs, newest first; one as its timeline, with what can be done about it. */

import { useState } from "react";
import { addressOf, go, type Address } from "../address";
import { Problem, surface, type Run } from "../api/client";
import { useLoaded, wordsOf, wordsOfThrown } from "../api/use";
import { ArtifactView } from "../views/ArtifactView";
import { Banner, Dot, Skeleton, Tag, type Tone } from "../kit/small";
import { ValueTable } from "../kit/values";
import { TimelineView } from "./TimelineView";
import { useRun } from "./useRun";

const STATES: Readonly<Record<Run["state"], Tone>> = { running: "planning", waiting: "waiting", completed: "good", failed: "bad", canceled: "" };
const EVERY_MS = 5_000;

export default function RunsPlace({ address }: { address: Address }) {
  const state = address.query["state"];
  const runs = useLoaded(`runs ${state ?? ""}`, () => surface.runs.list(state === undefined ? {} : { state: state as Run["state"] }), EVERY_MS);
  const id = address.parts[0] ?? "";
  return (
    <>
      <aside className="side" aria-label="Runs">
        <div className="side-head">
          <select aria-label="State" value={state ?? ""} onChange={(event) => { go(addressOf("runs", address.parts, { state: event.target.value }), true); }}>
            <option value="">all states</option>
            {Object.keys(STATES).map((name) => <option key={name}>{name}</option>)}
          </select>
        </div>
        {runs.error instanceof Problem && <p className="pad muted">{runs.error.message}</p>}
        {runs.value === undefined && runs.error === undefined && <Skeleton what="runs" />}
        {runs.value?.runs.length === 0 && <p className="pad muted">No runs yet: talk to an agent, or call a tool that asks first.</p>}
        <nav className="list" aria-label="Runs">
          {(runs.value?.runs ?? []).map((run) => (
            <a key={run.id} className="list-item" href={addressOf("runs", [run.id], address.query)} aria-current={run.id === id ? "page" : undefined}>
              <span title={run.id}>{run.parent_run_id === undefined ? (run.message ?? run.tool ?? run.agent ?? run.id) : `↳ ${run.agent ?? run.id}`}</span><Dot tone={STATES[run.state]} says={run.state} />
            </a>
          ))}
        </nav>
      </aside>
      <main id="main" className="main" tabIndex={-1}>{id === "" ? <p className="muted">Choose a run.</p> : <RunPage key={id} id={id} />}</main>
    </>
  );
}

function RunPage({ id }: { id: string }) {
  const run = useLoaded(`run ${id}`, () => surface.runs.get(id));
  const { timeline, isLive, broken } = useRun(id, run.again);
  const [failed, setFailed] = useState("");
  const act = (ask: () => Promise<unknown>) => {
    ask().then(() => { setFailed(""); run.again(); }).catch((error: unknown) => { setFailed(wordsOfThrown(error)); });
  };
  const value = run.value;
  return (
    <>
      <div className="row"><h1>{value?.agent ?? value?.tool ?? "Run"}</h1><code className="muted">{id}</code>{value !== undefined && <Tag tone={STATES[value.state]}>{value.state}</Tag>}{isLive && <Tag tone="planning">live</Tag>}</div>
      <p className="muted">{timeline.calls} calls · {timeline.tokens.toLocaleString("en")} tokens{value?.session_id !== undefined && <> · session <code>{value.session_id}</code></>}</p>
      {(broken || failed || run.error !== undefined) && <Banner tone="bad">{broken || failed || (run.error !== undefined && wordsOf(run.error))}</Banner>}
      {(value?.unknown ?? []).map((call) => <Resolve key={call} call={call} resolve={(body) => { act(() => surface.runs.resolve(id, body)); }} />)}
      {(value?.waits ?? []).map((wait) => <Banner key={wait.id} tone="waiting">{wait.question ?? wait.kind} <a href={addressOf("waits", [wait.id])}>Answer it</a></Banner>)}
      <div className="split">
        <section className="panel" aria-label="Timeline"><h2>Timeline</h2><TimelineView timeline={timeline} /></section>
        <section className="panel" aria-label="Result">
          <h2>Result</h2>
          {value?.text !== undefined && <p>{value.text}</p>}
          {value?.result !== undefined && <ValueTable value={value.result} />}
          {value?.error !== undefined && <Banner tone="bad">{value.error}</Banner>}
          {value !== undefined && value.text === undefined && value.result === undefined && value.error === undefined && <p className="muted">None yet.</p>}
          {(value?.artifacts ?? []).map((artifact) => <ArtifactView key={`${artifact.kind} ${artifact.digest}`} artifact={artifact} />)}
          {value !== undefined && (value.state === "running" || value.state === "waiting") && <button type="button" className="danger" onClick={() => { act(() => surface.runs.cancel(id)); }}>Cancel the run</button>}
        </section>
      </div>
    </>
  );
}

/** A call whose end nobody knows: a person says what happened. */
function Resolve({ call, resolve }: { call: string; resolve: (body: { tool_call_id: string; outcome: "not_run" | "failed" }) => void }) {
  return (
    <section className="panel asks" aria-label="May have run">
      <h2>May have run</h2>
      <p>The worker ended while <code>{call}</code> was running. Nobody knows whether it happened, and toolgen does not repeat it. Look it up in the other system.</p>
      <div className="row">
        <button type="button" onClick={() => { resolve({ tool_call_id: call, outcome: "not_run" }); }}>It did not run</button>
        <button type="button" className="danger" onClick={() => { resolve({ tool_call_id: call, outcome: "failed" }); }}>It failed</button>
        <span className="muted small">It ran, and has a result: <code>toolgen runs resolve</code></span>
      </div>
    </section>
  );
}
