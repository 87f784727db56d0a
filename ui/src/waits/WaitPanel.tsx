/** One wait, and its answer: the most careful thing on the page. */

import { useMemo, useState } from "react";
import { Problem, surface, type Answered, type Catalogue, type Issue, type Wait } from "../api/client";
import { addressOf } from "../address";
import { wordsOfThrown } from "../api/use";
import { useKept } from "../kit/kept";
import { later } from "../kit/later";
import { duration, until, useNow } from "../kit/time";
import { Banner, Tag } from "../kit/small";
import { isObject, pretty, type JsonObject } from "../kit/values";
import { ResultPanel } from "../results/ResultPanel";
import { behaviour } from "../tools/search";

const DocumentForm = later("The form", () => import("../forms/DocumentForm"));

export function WaitPanel({ wait, catalogue, isOpen, again }: { wait: Wait; catalogue: Catalogue; isOpen: boolean; again: () => void }) {
  const tool = catalogue.tools.find((one) => one.id === wait.tool || one.name === wait.tool);
  const [document, setDocument] = useKept<JsonObject>(`answer ${wait.id}`, {});
  const [reason, setReason] = useKept(`reason ${wait.id}`, "");
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  const [failed, setFailed] = useState("");
  const [answered, setAnswered] = useState<{ what: string; at: Date; answer: Answered }>();
  const [busy, setBusy] = useState(false);
  const now = useNow();
  const isApproval = wait.kind === "confirmation";
  const mayAnswer = isOpen && answered === undefined && wait.state === "sealed";
  const schema = isApproval ? payloadOf(wait.answer_schema) : wait.answer_schema;
  const source = useMemo(() => ({ schema: schema ?? {} }), [schema]);

  const send = async (what: string, ask: () => Promise<Answered>) => {
    setBusy(true);
    setFailed("");
    try {
      setAnswered({ what, at: new Date(), answer: await ask() });
      setIssues([]);
      setDocument({});
      setReason("");
      again();
    } catch (error) {
      if (error instanceof Problem) setIssues(error.issues);
      setFailed(wordsOfThrown(error));
    }
    setBusy(false);
  };
  const answer = (what: string, document: JsonObject) => { void send(what, () => surface.waits.answer(wait.id, document)); };
  const decide = (approved: boolean) => {
    const payload = approved && schema !== undefined ? { payload: document } : {};
    answer(approved ? "Approved" : "Denied", { approved, ...payload, ...(reason === "" ? {} : { message: reason }) });
  };
  return (
    <div className="split">
      <section className={`panel ${mayAnswer ? "asks" : ""}`} aria-label={wait.question ?? wait.kind}>
        <div className="row"><h2 className="grow">{tool?.title ?? wait.tool ?? wait.kind}</h2>{tool !== undefined && behaviour(tool).map(([word, tone]) => <Tag key={word} tone={tone}>{word}</Tag>)}</div>
        {wait.question !== undefined && <p>{wait.question}</p>}
        {wait.is_shortened === true && <p className="muted small">The question is shortened; the arguments below are whole.</p>}
        {wait.state !== "sealed" && <Banner tone="bad">This record is {wait.state}: {wait.state === "tampered" ? "it was changed after it was written" : "no key of this host sealed it"}. It cannot be approved.</Banner>}
        {wait.arguments !== undefined && <><h3>{isApproval ? "What you approve is what runs" : "Arguments"}</h3><pre>{pretty(wait.arguments)}</pre></>}
        {wait.preview !== undefined && <><h3>What it shows you</h3><p>{wait.preview}</p></>}
        {mayAnswer && schema !== undefined && (
          <DocumentForm name="Answer" source={source} document={document} issues={isApproval ? below("/payload", issues) : issues} change={setDocument} />
        )}
        {mayAnswer && isApproval && (
          <div className="field">
            <label className="label" htmlFor="reason">Reason <span className="muted small">optional, kept with the answer; an agent reads it</span></label>
            <input id="reason" value={reason} onChange={(event) => { setReason(event.target.value); }} />
          </div>
        )}
        {failed !== "" && <Banner tone="bad">{failed}</Banner>}
        {mayAnswer && (isApproval ? (
          <div className="row">
            <button type="button" className="primary" disabled={busy} onClick={() => { decide(true); }}>Approve exactly this</button>
            <button type="button" className="danger" disabled={busy} onClick={() => { decide(false); }}>Deny</button>
          </div>
        ) : schema !== undefined && <div className="row"><button type="button" className="primary" disabled={busy} onClick={() => { answer("Answered", document); }}>Answer</button><button type="button" className="danger" disabled={busy} onClick={() => void send("Canceled", () => surface.waits.cancel(wait.id, reason))}>Cancel the call</button></div>)}
        {answered === undefined && !isOpen && <Banner>It was answered, or its time is over.</Banner>}
        {answered !== undefined && <Banner tone="">{answered.what} at {answered.at.toLocaleTimeString()} by {answered.answer.answered_by}. The run keeps it: <a href={addressOf("runs", [wait.run_id])}>its timeline</a>.</Banner>}
        <dl className="facts small">
          <dt>asked by</dt><dd>{[wait.requested_by, wait.agent].filter(Boolean).join(", by ") || "nobody named"}</dd>
          <dt>session</dt><dd><code>{wait.session_id ?? "–"}</code></dd>
          <dt>run</dt><dd><a href={addressOf("runs", [wait.run_id])}><code>{wait.run_id}</code></a></dd>
          {wait.created_at !== undefined && <><dt>since</dt><dd>{new Date(wait.created_at * 1000).toLocaleString()}, {duration(Math.max(0, now - wait.created_at))} ago</dd></>}
          <dt>until</dt><dd>{wait.expires_at === undefined ? "no end" : `${new Date(wait.expires_at * 1000).toLocaleString()}, ${until(wait.expires_at, now)}`}</dd>
        </dl>
      </section>
      {answered?.answer.call !== undefined && <section className="panel" aria-label="Result"><h2>Result</h2><ResultPanel call={answered.answer.call} tookMs={0} /></section>}
    </div>
  );
}

/** What an approval asks for beside yes or no; undefined where that is nothing. */
export function payloadOf(schema: JsonObject | undefined): JsonObject | undefined {
  const properties = schema?.["properties"];
  const payload = isObject(properties) ? properties["payload"] : undefined;
  return isObject(payload) ? { ...payload, ...(isObject(schema?.["$defs"]) ? { $defs: schema["$defs"] } : {}) } : undefined;
}

function below(pointer: string, issues: readonly Issue[]): readonly Issue[] {
  return issues.map((issue) => (issue.pointer.startsWith(pointer) ? { ...issue, pointer: issue.pointer.slice(pointer.length) } : issue));
}
