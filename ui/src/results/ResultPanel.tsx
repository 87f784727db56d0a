/** What a call led to: its outcome in one line, then the result as table, tree, what the model reads, and the trace. */

import { useState } from "react";
import type { AnyCall, Status } from "../api/client";
import { Bars } from "../kit/bars";
import { shown, shownLines } from "../kit/escape";
import { Banner, Copy, Tag, type Tone } from "../kit/small";
import { Tabs } from "../kit/tabs";
import { hidesIn, pretty, Tree, ValueTable, type Json } from "../kit/values";
import { addressOf } from "../address";
import { texts } from "../texts";
import { ArtifactView } from "../views/ArtifactView";

const TONES: Readonly<Record<Status, Tone>> = { ok: "good", error: "bad", denied: "bad", pending: "waiting", suspended: "waiting", unknown: "bad", running: "waiting" };
type Shown = "table" | "tree" | "model" | "trace";

export function OutcomeTag({ outcome }: { outcome: Status }) {
  return <Tag tone={TONES[outcome]}>{outcome}</Tag>;
}

/** `tookMs` is the time of the whole request, seen from the page. */
export function ResultPanel({ call, tookMs, next }: { call: AnyCall; tookMs: number; next?: (() => void) | undefined }) {
  const [shown, show] = useState<Shown>("table");
  const ok = call.status === "ok" ? call : undefined;
  const result = call.status === "ok" || call.status === "pending" ? call.result : undefined;
  const bytes = result === undefined ? 0 : new TextEncoder().encode(JSON.stringify(result)).length;
  const bounds = ok?.bounds;
  return (
    <>
      <div className="row">
        <OutcomeTag outcome={call.status} />
        <span className="muted small">{Math.round(tookMs)} ms · {texts.results.bytes(bytes)}</span>
        {bounds?.truncated === true && <Tag tone="waiting">{texts.results.window(bounds.returned, bounds.total)}</Tag>}
        {next !== undefined && <button type="button" onClick={next}>{texts.call.next}</button>}
        <span className="grow" />
        {result !== undefined && <Copy what={texts.call.result} text={pretty(result)} />}
      </div>
      {call.display !== undefined && <p className="shown">{shownLines(call.display)}</p>}
      {bounds?.refinement_hint !== undefined && <p className="muted small">{shownLines(bounds.refinement_hint)}</p>}
      {(ok?.warnings ?? []).map((warning) => (
        <Banner key={`${warning.pointer} ${warning.message}`} tone="waiting">{shownLines(`${texts.results.unfit} ${warning.path} ${warning.message}`)}</Banner>
      ))}
      <Failed call={call} />
      {(call.suspensions ?? []).map((suspension) => (
        <Banner key={suspension.id} tone="waiting">{shownLines(suspension.question ?? suspension.kind)} <a href={addressOf("suspensions", [suspension.id])}>{texts.call.suspension}</a></Banner>
      ))}
      {(ok?.artifacts ?? []).map((artifact) => <ArtifactView key={`${artifact.kind} ${artifact.digest}`} artifact={artifact} />)}
      <Tabs<Shown> label={texts.call.result} shown={shown} show={show}
        tabs={[["table", texts.results.table], ["tree", texts.results.tree], ["model", texts.results.model], ["trace", texts.results.trace]]}>
        {shown === "trace" ? <Trace call={call} tookMs={tookMs} /> : result === undefined ? <p className="muted">{texts.results.none}</p> : <Value shown={shown} value={result} bytes={bytes} />}
      </Tabs>
    </>
  );
}

function Value({ shown, value, bytes }: { shown: Shown; value: Json; bytes: number }) {
  if (shown === "table") return <ValueTable value={value} />;
  if (shown === "tree") return <Tree value={value} />;
  return <><pre>{pretty(value)}</pre><p className="muted small">{texts.results.read(bytes)} {hidesIn(value) && texts.results.hidden}</p></>;
}

function Failed({ call }: { call: AnyCall }) {
  const error = "error" in call ? call.error : undefined;
  if (error === undefined) return null;
  const details = "details" in error ? error.details : undefined;
  return (
    <Banner tone="bad">
      <strong>{shown(error.code ?? call.status)}</strong> {shownLines(error.message)}
      {(error.issues ?? []).length > 0 && <ul>{error.issues?.map((issue) => <li key={`${issue.path} ${issue.constraint}`}><code>{shown(issue.path)}</code> {shown(issue.message)}</li>)}</ul>}
      {details !== undefined && <ValueTable value={details} />}
      {error.correlation_id !== undefined && <p className="small">{texts.results.correlation} <code>{shown(error.correlation_id)}</code></p>}
    </Banner>
  );
}

function Trace({ call, tookMs }: { call: AnyCall; tookMs: number }) {
  const steps = (call.trace ?? []).map((one) => ({ name: one.step, ms: one.duration_s * 1000 }));
  if (steps.length === 0) return <p className="muted">{texts.results.noTrace}</p>;
  const inside = steps.reduce((sum, step) => sum + step.ms, 0);
  return <Bars rows={[...steps, { name: texts.results.way, ms: Math.max(0, tookMs - inside) }]} />;
}
