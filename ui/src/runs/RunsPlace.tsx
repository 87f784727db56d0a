/** Runs, newest first; one as its timeline, with what can be done about it. */

import { useState } from "react";
import { addressOf, go, type Address } from "../address";
import { Problem, surface, type Catalog, type Run } from "../api/client";
import { useLoaded, usePages, wordsOf, wordsOfThrown } from "../api/use";
import { ArtifactView } from "../views/ArtifactView";
import { shown, shownLines } from "../kit/escape";
import { Banner, Dot, Skeleton, Tag } from "../kit/small";
import { ValueTable } from "../kit/values";
import { texts } from "../texts";
import { Grants } from "../suspensions/Grants";
import { outcomeOf, STATUSES } from "./outcome";
import { TimelineView } from "./TimelineView";
import { Unknown } from "./Unknown";
import { useRun } from "./useRun";

const EVERY_MS = 5_000;

export default function RunsPlace({ catalog, address }: { catalog: Catalog; address: Address }) {
  const status = address.query["status"];
  const runs = usePages<Run>(`runs ${status ?? ""}`, async (after) => {
    const { runs: items, next } = await surface.runs.list({ after, ...(status !== undefined && { status: status as Run["status"] | "unknown" }) });
    return { items, next };
  }, EVERY_MS);
  const id = address.parts[0] ?? "";
  return (
    <>
      <aside className="side" aria-label={texts.places.runs}>
        <div className="side-head">
          <select aria-label={texts.run.status} value={status ?? ""} onChange={(event) => { go(addressOf("runs", address.parts, { status: event.target.value }), true); }}>
            <option value="">{texts.run.allStatuses}</option>
            {[...Object.keys(STATUSES), "unknown"].map((name) => <option key={name}>{name}</option>)}
          </select>
        </div>
        {runs.error instanceof Problem && <p className="pad muted">{wordsOf(runs.error)}</p>}
        {runs.value === undefined && runs.error === undefined && <Skeleton what={texts.places.runs} />}
        {runs.value?.length === 0 && <p className="pad muted">{status === "unknown" ? texts.unknown.none : texts.run.none}</p>}
        <nav className="list" aria-label={texts.places.runs}>
          {(runs.value ?? []).map((run) => (
            <a key={run.id} className="list-item" href={addressOf("runs", [run.id], address.query)} aria-current={run.id === id ? "page" : undefined}>
              <span title={shown(run.id)}>{shown(run.parent_run_id === undefined ? (run.message ?? run.tool ?? run.agent ?? run.id) : `↳ ${run.agent ?? run.id}`)}</span><RunDot run={run} />
            </a>
          ))}
          {runs.older !== undefined && <button type="button" className="plain" onClick={runs.older}>{texts.older}</button>}
        </nav>
      </aside>
      <main id="main" className="main" tabIndex={-1}>{id === "" ? <p className="muted">{texts.run.choose}</p> : <RunPage key={id} id={id} catalog={catalog} />}</main>
    </>
  );
}

function RunDot({ run }: { run: Run }) {
  const [says, tone] = outcomeOf(run);
  return <Dot tone={tone} says={says} />;
}

/** The status of a run, and what is known of its calls where that is something else. */
function RunTags({ run }: { run: Run }) {
  const [word, tone] = outcomeOf(run);
  return <><Tag tone={tone}>{word}</Tag>{word !== run.status && <Tag>{run.status}</Tag>}</>;
}

function RunPage({ id, catalog }: { id: string; catalog: Catalog }) {
  const run = useLoaded(`run ${id}`, () => surface.runs.get(id));
  const { timeline, isLive, broken } = useRun(id, run.again);
  const [failed, setFailed] = useState("");
  const act = (ask: () => Promise<unknown>) => {
    ask().then(() => { setFailed(""); run.again(); }).catch((error: unknown) => { setFailed(wordsOfThrown(error)); });
  };
  const value = run.value;
  return (
    <>
      <div className="row"><h1>{shown(value?.agent ?? value?.tool ?? texts.run.title)}</h1><code className="muted">{shown(id)}</code>{value !== undefined && <RunTags run={value} />}{isLive && <Tag tone="planning">{texts.run.live}</Tag>}</div>
      <p className="muted">{texts.run.counts(timeline.calls, timeline.tokens)}{value?.session_id !== undefined && <> · {texts.run.session} <code>{shown(value.session_id)}</code></>}</p>
      {(broken || failed || run.error !== undefined) && <Banner tone="bad">{broken || failed || (run.error !== undefined && wordsOf(run.error))}</Banner>}
      {(value?.unknown_calls ?? []).map((call) => <Unknown key={call} run={id} call={call} session={value?.session_id ?? ""} timeline={timeline} catalog={catalog} again={run.again} />)}
      {(value?.suspensions ?? []).map((suspension) => <Banner key={suspension.id} tone="waiting">{shownLines(suspension.question ?? suspension.kind)} <a href={addressOf("suspensions", [suspension.id])}>{texts.run.answer}</a></Banner>)}
      <div className="split">
        <section className="panel" aria-label={texts.run.timeline}><h2>{texts.run.timeline}</h2><TimelineView timeline={timeline} /></section>
        <section className="panel" aria-label={texts.call.result}>
          <h2>{texts.call.result}</h2>
          {value?.text !== undefined && <p className="shown">{shownLines(value.text)}</p>}
          {value?.result !== undefined && <ValueTable value={value.result} />}
          {value?.error !== undefined && <Banner tone="bad">{shownLines(value.error)}</Banner>}
          {value !== undefined && value.text === undefined && value.result === undefined && value.error === undefined && <p className="muted">{texts.run.noResult}</p>}
          {(value?.artifacts ?? []).map((artifact) => <ArtifactView key={`${artifact.kind} ${artifact.digest}`} artifact={artifact} />)}
          {value !== undefined && (value.status === "running" || value.status === "waiting") && <button type="button" className="danger" onClick={() => { act(() => surface.runs.cancel(id)); }}>{texts.run.cancel}</button>}
        </section>
      </div>
      <Grants session={value?.session_id} />
    </>
  );
}
