/** One wait, and its answer: the most careful thing on the page. */

import { useRef, useState } from "react";
import { tokensOf } from "../../../toolgen/templates/typescript/forms";
import { escaped } from "../../../toolgen/templates/typescript/schemas";
import { Problem, surface, type Answered, type Catalog, type Issue, type Suspension, type Tool } from "../api/client";
import { addressOf } from "../address";
import { wordsOfThrown } from "../api/use";
import { DocumentForm } from "../forms/DocumentForm";
import { asSomething, draftOf, draftWithoutSecrets, faultsOf, read, type Entered } from "../forms/draft";
import { draftFor, TextEntry, useKeptText, useShapes, Wrong, type Typed } from "../forms/form";
import { shown, shownLines } from "../kit/escape";
import { useKept } from "../kit/kept";
import { duration, until, useNow } from "../kit/time";
import { Banner, Known, Tag } from "../kit/small";
import { hidesIn, isObject, pretty, type Json, type JsonObject } from "../kit/values";
import { ResultPanel } from "../results/ResultPanel";
import { behaviour } from "../tools/search";
import { texts } from "../texts";

export function WaitPanel({ wait, catalog, isOpen, again }: { wait: Suspension; catalog: Catalog; isOpen: boolean; again: () => void }) {
  const tool = catalog.tools.find((one) => one.id === wait.tool || one.name === wait.tool);
  const secrets = secretsOf(wait, tool);
  const [typed, setTyped] = useKept<Typed>(`answer ${wait.id}`, null, (typed) => typed && secrets && { slot: draftWithoutSecrets(typed.slot, secrets.map(tokensOf)) });
  const reason = useKeptText(`reason ${wait.id}`, `${wait.id}-reason`);
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  const [failed, setFailed] = useState("");
  const [answered, setAnswered] = useState<{ what: string; at: Date; answer: Answered }>();
  const [busy, setBusy] = useState(false);
  const now = useNow();
  const isApproval = wait.kind === "confirmation";
  const mayAnswer = isOpen && answered === undefined && wait.seal === "sealed";
  const schema = isApproval ? partOf(wait.answer_schema, "payload") : wait.answer_schema;
  const grantable = isApproval ? partOf(wait.answer_schema, "grant") : undefined;
  const [granted, setGranted] = useKept<Typed>(`grant ${wait.id}`, null); // null for this call alone
  const grantShapes = useShapes(grantable ?? NOTHING, undefined);
  const grant: Entered = granted === null ? NOT_SET : read(grantShapes, granted.slot, `${wait.id}-grant`);
  const shapes = useShapes(schema ?? NOTHING, undefined);
  const draft = draftFor(shapes, typed);
  const form = `${wait.id}-answer`;
  const given: Entered = schema === undefined ? NOT_SET : read(shapes, draft, form);
  const document = isApproval ? given : asSomething(given);
  const faults = isApproval ? faultsOf(document, reason.entered, grant) : document.faults;
  const isSending = useRef(false); // before the buttons are drawn again

  const send = async (what: string, ask: () => Promise<Answered>) => {
    if (faults.size > 0 || isSending.current) return;
    isSending.current = true;
    setBusy(true);
    setFailed("");
    try {
      setAnswered({ what, at: new Date(), answer: await ask() });
      setIssues([]);
      setTyped(null);
      setGranted(null);
      reason.set(null);
      again();
    } catch (error) {
      if (error instanceof Problem) setIssues(error.issues);
      setFailed(wordsOfThrown(error));
    }
    isSending.current = false;
    setBusy(false);
  };
  const decide = (approved: boolean) => {
    if (!document.ok || !reason.entered.ok || !grant.ok) return;
    const further = approved && grant.value !== undefined ? { grant: grant.value } : {};
    const payload = approved && document.value !== undefined ? { payload: document.value } : {};
    const message = reason.entered.value === "" ? {} : { message: reason.entered.value };
    void send(approved ? texts.wait.approved : texts.wait.denied, () => surface.suspensions.answer(wait.id, { approved, ...payload, ...further, ...message }));
  };
  const answer = () => {
    if (document.ok) {
      const sent = document.value;
      void send(texts.wait.answered, () => surface.suspensions.answer(wait.id, sent));
    }
  };
  const isOff = busy || faults.size > 0;
  return (
    <div className="split">
      <section className={`panel ${mayAnswer ? "asks" : ""}`} aria-label={shown(wait.question ?? wait.kind)}>
        <div className="row"><h2 className="grow">{shown(tool?.title ?? wait.tool ?? wait.kind)}</h2>{tool !== undefined && behaviour(tool).map(([word, tone]) => <Tag key={word} tone={tone}>{word}</Tag>)}</div>
        {wait.question !== undefined && <p className="shown">{shownLines(wait.question)}</p>}
        {wait.is_shortened === true && <p className="muted small">{texts.wait.shortened}</p>}
        {wait.seal !== "sealed" && <Banner tone="bad">{texts.wait.notSealed(wait.seal)}</Banner>}
        {wait.arguments !== undefined && <><h3>{isApproval ? texts.wait.exactly : texts.call.arguments}</h3><pre>{pretty(wait.arguments)}</pre></>}
        {wait.arguments !== undefined && hidesIn(wait.arguments) && (tool === undefined || tool.payload?.sensitive !== undefined) && <p className="muted small">{texts.wait.hidden}</p>}
        {wait.preview !== undefined && <><h3>{texts.wait.preview}</h3><p className="shown">{shownLines(wait.preview)}</p></>}
        {mayAnswer && schema !== undefined && (
          <DocumentForm id={form} name={texts.wait.answer} shapes={shapes} sensitive={secrets ?? []} draft={draft} entered={document} issues={isApproval ? below("/payload", issues) : issues} change={(slot) => { setTyped({ slot }); }} />
        )}
        {mayAnswer && isApproval && <TextEntry state={reason} name={texts.wait.reason} label={<>{texts.wait.reason} <span className="muted small">{texts.wait.reasonHelp}</span></>} />}
        {mayAnswer && grantable !== undefined && (
          <label className="row"><input type="checkbox" checked={granted !== null} onChange={(event) => { setGranted(event.target.checked ? { slot: draftOf(grantShapes, grantShapes.root, termsFor(wait.arguments)) } : null); }} /> {texts.grant.further}</label>
        )}
        {mayAnswer && grantable !== undefined && granted !== null && (
          <DocumentForm id={`${wait.id}-grant`} name={texts.grant.terms} shapes={grantShapes} draft={granted.slot} entered={grant} issues={below("/grant", issues)} change={(slot) => { setGranted({ slot }); }} />
        )}
        {mayAnswer && <Wrong faults={faults} />}
        {failed !== "" && <Banner tone="bad">{failed}</Banner>}
        {mayAnswer && (isApproval ? (
          <div className="row">
            <button type="button" className="primary" disabled={isOff} onClick={() => { decide(true); }}>{granted !== null ? texts.grant.approve : wait.tool === undefined ? texts.wait.agree : texts.wait.approve}</button>
            <button type="button" className="danger" disabled={isOff} onClick={() => { decide(false); }}>{texts.wait.deny}</button>
          </div>
        ) : schema !== undefined && <div className="row"><button type="button" className="primary" disabled={isOff || !document.ok} onClick={answer}>{texts.wait.answer}</button><button type="button" className="danger" disabled={isOff} onClick={() => void send(texts.wait.canceled, () => surface.suspensions.cancel(wait.id))}>{texts.wait.cancel}</button></div>)}
        {answered === undefined && !isOpen && <Banner>{texts.wait.over}</Banner>}
        {answered !== undefined && <Banner tone="">{texts.wait.done(answered.what, answered.at.toLocaleTimeString(), shown(answered.answer.answered_by))} <a href={addressOf("runs", [wait.run_id])}>{texts.wait.itsTimeline}</a>.</Banner>}
        <dl className="facts small">
          <dt>{texts.wait.askedBy}</dt><dd><Known text={wait.requested_by} none={texts.wait.nobody} /></dd>
          <dt>{texts.wait.agent}</dt><dd><Known text={wait.agent} /></dd>
          <dt>{texts.run.session}</dt><dd><Known text={wait.session_id} /></dd>
          <dt>{texts.wait.run}</dt><dd><a href={addressOf("runs", [wait.run_id])}><code>{shown(wait.run_id)}</code></a></dd>
          {wait.created_at !== undefined && <><dt>{texts.wait.since}</dt><dd>{texts.wait.ago(new Date(wait.created_at * 1000).toLocaleString(), duration(Math.max(0, now - wait.created_at)))}</dd></>}
          <dt>{texts.wait.until}</dt><dd>{wait.expires_at === undefined ? texts.wait.noEnd : `${new Date(wait.expires_at * 1000).toLocaleString()}, ${until(wait.expires_at, now)}`}</dd>
        </dl>
      </section>
      {answered?.answer.call !== undefined && <section className="panel" aria-label={texts.call.result}><h2>{texts.call.result}</h2><ResultPanel call={answered.answer.call} tookMs={0} /></section>}
    </div>
  );
}

const NOTHING: JsonObject = {};
const NOT_SET: Entered = { ok: true, value: undefined, faults: new Map() };

/** What an approval may hold beside yes or no under this name; undefined where that is nothing. */
function partOf(schema: JsonObject | undefined, name: "payload" | "grant"): JsonObject | undefined {
  const properties = schema?.["properties"];
  const part = isObject(properties) ? properties[name] : undefined;
  return isObject(part) ? { ...part, ...(isObject(schema?.["$defs"]) ? { $defs: schema["$defs"] } : {}) } : undefined;
}

/** The terms with which a grant begins: some calls with the same arguments, as far as they are shown. */
function termsFor(given: JsonObject | undefined): JsonObject {
  const same = Object.entries(given ?? {}).filter(([, value]) => !hidesIn(value)).map(([name, value]): [string, Json] => [`/${escaped(name)}`, { equal: value }]);
  return { uses: 5, expires_s: 3600, ...(same.length > 0 ? { pattern: Object.fromEntries(same) } : {}) };
}

/** Pointers to what is sensitive in an answer; null where a call asks that may have sensitive values, and nothing says which. */
function secretsOf(wait: Suspension, tool: Tool | undefined): readonly string[] | null {
  if (tool === undefined) return wait.tool === undefined ? [] : null;
  if (wait.kind === "confirmation") return tool.confirmation?.payload?.sensitive ?? [];
  if (wait.kind === "pending") return tool.result?.sensitive ?? [];
  return [tool.payload, tool.result].some((part) => part?.sensitive !== undefined) ? null : [];
}

function below(pointer: string, issues: readonly Issue[]): readonly Issue[] {
  return issues.map((issue) => (issue.pointer.startsWith(pointer) ? { ...issue, pointer: issue.pointer.slice(pointer.length) } : issue));
}
