/** One suspended call, and its answer: the most careful thing on the page. */

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

export function SuspensionPanel({ suspension, catalog, isOpen, again }: { suspension: Suspension; catalog: Catalog; isOpen: boolean; again: () => void }) {
  const tool = catalog.tools.find((one) => one.id === suspension.tool || one.name === suspension.tool);
  const secrets = secretsOf(suspension, tool);
  const [typed, setTyped] = useKept<Typed>(`answer ${suspension.id}`, null, (typed) => typed && secrets && { slot: draftWithoutSecrets(typed.slot, secrets.map(tokensOf)) });
  const reason = useKeptText(`reason ${suspension.id}`, `${suspension.id}-reason`);
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  const [failed, setFailed] = useState("");
  const [answered, setAnswered] = useState<{ what: string; at: Date; answer: Answered }>();
  const [busy, setBusy] = useState(false);
  const now = useNow();
  const isApproval = suspension.kind === "confirmation";
  const mayAnswer = isOpen && answered === undefined && suspension.seal === "sealed";
  const schema = isApproval ? partOf(suspension.answer_schema, "payload") : suspension.answer_schema;
  const grantable = isApproval ? partOf(suspension.answer_schema, "grant") : undefined;
  const [granted, setGranted] = useKept<Typed>(`grant ${suspension.id}`, null); // null for this call alone
  const grantShapes = useShapes(grantable ?? NOTHING, undefined);
  const grant: Entered = granted === null ? NOT_SET : read(grantShapes, granted.slot, `${suspension.id}-grant`);
  const shapes = useShapes(schema ?? NOTHING, undefined);
  const draft = draftFor(shapes, typed);
  const form = `${suspension.id}-answer`;
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
    void send(approved ? texts.suspension.approved : texts.suspension.denied, () => surface.suspensions.answer(suspension.id, { approved, ...payload, ...further, ...message }));
  };
  const answer = () => {
    if (document.ok) {
      const sent = document.value;
      void send(texts.suspension.answered, () => surface.suspensions.answer(suspension.id, sent));
    }
  };
  const isOff = busy || faults.size > 0;
  return (
    <div className="split">
      <section className={`panel ${mayAnswer ? "asks" : ""}`} aria-label={shown(suspension.question ?? suspension.kind)}>
        <div className="row"><h2 className="grow">{shown(tool?.title ?? suspension.tool ?? suspension.kind)}</h2>{tool !== undefined && behaviour(tool).map(([word, tone]) => <Tag key={word} tone={tone}>{word}</Tag>)}</div>
        {suspension.question !== undefined && <p className="shown">{shownLines(suspension.question)}</p>}
        {suspension.is_shortened === true && <p className="muted small">{texts.suspension.shortened}</p>}
        {suspension.seal !== "sealed" && <Banner tone="bad">{texts.suspension.notSealed(suspension.seal)}</Banner>}
        {suspension.arguments !== undefined && <><h3>{isApproval ? texts.suspension.exactly : texts.call.arguments}</h3><pre>{pretty(suspension.arguments)}</pre></>}
        {suspension.arguments !== undefined && hidesIn(suspension.arguments) && (tool === undefined || tool.payload?.sensitive !== undefined) && <p className="muted small">{texts.suspension.hidden}</p>}
        {suspension.preview !== undefined && <><h3>{texts.suspension.preview}</h3><p className="shown">{shownLines(suspension.preview)}</p></>}
        {mayAnswer && schema !== undefined && (
          <DocumentForm id={form} name={texts.suspension.answer} shapes={shapes} sensitive={secrets ?? []} draft={draft} entered={document} issues={isApproval ? below("/payload", issues) : issues} change={(slot) => { setTyped({ slot }); }} />
        )}
        {mayAnswer && isApproval && <TextEntry state={reason} name={texts.suspension.reason} label={<>{texts.suspension.reason} <span className="muted small">{texts.suspension.reasonHelp}</span></>} />}
        {mayAnswer && grantable !== undefined && (
          <label className="row"><input type="checkbox" checked={granted !== null} onChange={(event) => { setGranted(event.target.checked ? { slot: draftOf(grantShapes, grantShapes.root, termsFor(suspension.arguments)) } : null); }} /> {texts.grant.further}</label>
        )}
        {mayAnswer && grantable !== undefined && granted !== null && (
          <DocumentForm id={`${suspension.id}-grant`} name={texts.grant.terms} shapes={grantShapes} draft={granted.slot} entered={grant} issues={below("/grant", issues)} change={(slot) => { setGranted({ slot }); }} />
        )}
        {mayAnswer && <Wrong faults={faults} />}
        {failed !== "" && <Banner tone="bad">{failed}</Banner>}
        {mayAnswer && (isApproval ? (
          <div className="row">
            <button type="button" className="primary" disabled={isOff} onClick={() => { decide(true); }}>{granted !== null ? texts.grant.approve : suspension.tool === undefined ? texts.suspension.agree : texts.suspension.approve}</button>
            <button type="button" className="danger" disabled={isOff} onClick={() => { decide(false); }}>{texts.suspension.deny}</button>
          </div>
        ) : schema !== undefined && <div className="row"><button type="button" className="primary" disabled={isOff || !document.ok} onClick={answer}>{texts.suspension.answer}</button><button type="button" className="danger" disabled={isOff} onClick={() => void send(texts.suspension.canceled, () => surface.suspensions.cancel(suspension.id))}>{texts.suspension.cancel}</button></div>)}
        {answered === undefined && !isOpen && <Banner>{texts.suspension.over}</Banner>}
        {answered !== undefined && <Banner tone="">{texts.suspension.done(answered.what, answered.at.toLocaleTimeString(), shown(answered.answer.answered_by))} <a href={addressOf("runs", [suspension.run_id])}>{texts.suspension.itsTimeline}</a>.</Banner>}
        <dl className="facts small">
          <dt>{texts.suspension.askedBy}</dt><dd><Known text={suspension.requested_by} none={texts.suspension.nobody} /></dd>
          <dt>{texts.suspension.agent}</dt><dd><Known text={suspension.agent} /></dd>
          <dt>{texts.run.session}</dt><dd><Known text={suspension.session_id} /></dd>
          <dt>{texts.suspension.run}</dt><dd><a href={addressOf("runs", [suspension.run_id])}><code>{shown(suspension.run_id)}</code></a></dd>
          {suspension.created_at !== undefined && <><dt>{texts.suspension.since}</dt><dd>{texts.suspension.ago(new Date(suspension.created_at * 1000).toLocaleString(), duration(Math.max(0, now - suspension.created_at)))}</dd></>}
          <dt>{texts.suspension.until}</dt><dd>{suspension.expires_at === undefined ? texts.suspension.noEnd : `${new Date(suspension.expires_at * 1000).toLocaleString()}, ${until(suspension.expires_at, now)}`}</dd>
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
function secretsOf(suspension: Suspension, tool: Tool | undefined): readonly string[] | null {
  if (tool === undefined) return suspension.tool === undefined ? [] : null;
  if (suspension.kind === "confirmation") return tool.confirmation?.payload?.sensitive ?? [];
  if (suspension.kind === "pending") return tool.result?.sensitive ?? [];
  return [tool.payload, tool.result].some((part) => part?.sensitive !== undefined) ? null : [];
}

function below(pointer: string, issues: readonly Issue[]): readonly Issue[] {
  return issues.map((issue) => (issue.pointer.startsWith(pointer) ? { ...issue, pointer: issue.pointer.slice(pointer.length) } : issue));
}
