/** Call a tool: arguments left, result right. Form and JSON are two views of one document. */

import { useEffect, useMemo, useRef, useState } from "react";
import { Problem, surface, type AnyCall, type Catalogue, type Issue, type Tool, type TypedSchema } from "../api/client";
import { useKeys } from "../keys";
import { later } from "../kit/later";
import { Banner, Skeleton } from "../kit/small";
import { Segmented } from "../kit/segmented";
import { isObject, pretty, type Json, type JsonObject } from "../kit/values";
import { wordsOf } from "../api/use";
import { ResultPanel } from "../results/ResultPanel";
import { texts } from "../texts";
import { draftOf, historyOf, keepDraft, remember } from "./history";
import { SameCall } from "./CodeTab";

const DocumentForm = later(texts.call.form, () => import("../forms/DocumentForm"));
const JSONEditor = later(texts.call.json, () => import("../forms/JSONEditor"));

interface State {
  readonly call?: AnyCall | undefined;
  readonly tookMs?: number | undefined;
  readonly issues: readonly Issue[];
  readonly failed?: string;
  readonly busy: boolean;
}

/** `chosen` is the id of the call whose result is shown, of those that this tab of the browser has made. */
export function CallTab({ tool, payload, catalogue, chosen, choose }: { tool: Tool; payload: TypedSchema; catalogue: Catalogue; chosen: string; choose: (call: string) => void }) {
  const kept = draftOf(tool.id);
  const [document, setDocument] = useState<JsonObject>(kept?.document ?? {});
  const [text, setText] = useState<string | null>(kept?.text ?? null);
  const [session, setSession] = useState(kept?.session ?? "");
  const [round, setRound] = useState(0); // a new form for a document that came from elsewhere
  const made = useMemo(() => (chosen === "" ? undefined : historyOf(tool.id).find((one) => one.call.id === chosen)), [tool.id, chosen]);
  const [state, setState] = useState<State>({ call: made?.call, tookMs: made?.tookMs, issues: [], busy: false });
  const running = useRef(0);
  useEffect(() => { keepDraft(tool.id, { document, text, session }); }, [tool.id, document, text, session]);

  const wrong = text === null ? "" : whyNot(text);
  const replace = (next: JsonObject) => {
    setDocument(next);
    setText(text === null ? null : pretty(next));
    setRound(round + 1);
    setState({ ...state, issues: [] });
  };
  const call = async (given: JsonObject) => {
    if (wrong !== "") return;
    const own = ++running.current;
    const began = performance.now();
    setState({ issues: [], busy: true });
    let next: State;
    try {
      const made = await surface.call(tool.id, given, { trace: true, session: session === "" ? undefined : session });
      const tookMs = performance.now() - began;
      remember(tool.id, { at: Date.now(), arguments: given, call: made, tookMs });
      choose(made.id);
      next = { call: made, tookMs, issues: made.outcome === "error" ? (made.error.issues ?? []) : [], busy: false };
    } catch (error) {
      next = { issues: error instanceof Problem ? error.issues : [], failed: error instanceof Problem ? wordsOf(error) : texts.notSent, busy: false };
    }
    if (own === running.current) setState(next);
  };
  useKeys({ "Ctrl Enter": () => { void call(document); } });
  const isForm = text === null;
  const following = state.call?.outcome === "ok" ? state.call.next_arguments : undefined;
  const verb = tool.annotations?.destructiveHint === true && tool.annotations.readOnlyHint !== true ? (tool.title ?? tool.name) : texts.tabs.call;
  const unplaced = state.issues.filter((issue) => issue.pointer === "" || !isForm);
  return (
    <div className="split">
      <section className="panel" aria-label={texts.call.arguments}>
        <div className="row">
          <h2 className="grow">{texts.call.arguments}</h2>
          <Segmented label={texts.call.view} choices={[texts.call.form, texts.call.json]} chosen={isForm ? 0 : 1}
            choose={(index) => { if (index === 1) setText(text ?? pretty(document)); else if (wrong === "") { setText(null); setRound(round + 1); } }} />
        </div>
        {isForm
          ? <DocumentForm key={round} name={tool.title ?? tool.name} source={payload} types={catalogue.types} document={document} issues={state.issues} change={setDocument} />
          : <JSONEditor label={texts.call.arguments} text={text} issues={state.issues} change={(next) => { setText(next); if (whyNot(next) === "") setDocument(JSON.parse(next) as JsonObject); }} run={() => { void call(document); }} />}
        {wrong !== "" && <p className="issue" role="alert">{wrong}</p>}
        {unplaced.map((issue) => <p key={`${issue.path} ${issue.constraint}`} className="issue"><code>{issue.path}</code> {issue.message}</p>)}
        <div className="field">
          <label className="label" htmlFor="session">{texts.call.as} <span className="muted small">{texts.optional}</span></label>
          <p className="help">{texts.call.asHelp}{(tool.inject ?? []).length > 0 && ` ${texts.call.injected} ${tool.inject?.join(", ")}.`}</p>
          <input id="session" value={session} onChange={(event) => { setSession(event.target.value); }} />
        </div>
        <div className="row">
          <button type="button" className={tool.annotations?.destructiveHint === true && tool.annotations.readOnlyHint !== true ? "danger" : "primary"} disabled={state.busy || wrong !== ""} onClick={() => { void call(document); }}>{verb}</button>
          {(payload.examples ?? []).slice(0, 3).map((example, index) => (
            <button key={index} type="button" onClick={() => { if (isObject(example)) replace(example); }}>{texts.call.example}{index > 0 && ` ${index + 1}`}</button>
          ))}
          {Object.keys(document).length > 0 && <button type="button" onClick={() => { replace({}); }}>{texts.call.clear}</button>}
          <span className="grow" /><kbd>Ctrl ↵</kbd>
        </div>
      </section>
      <section className="panel" aria-label={texts.call.result} aria-busy={state.busy} aria-live="polite">
        <h2>{texts.call.result}</h2>
        {state.failed !== undefined && <Banner tone="bad">{state.failed}</Banner>}
        {state.busy && <Skeleton what={texts.call.running(tool.title ?? tool.name)} />}
        {!state.busy && state.call === undefined && state.failed === undefined && <p className="muted">{texts.call.nothingYet}</p>}
        {!state.busy && state.call !== undefined && (
          <>
            {made !== undefined && state.call.id === made.call.id && JSON.stringify(made.arguments) !== JSON.stringify(document) && (
              <p className="muted small">{texts.call.madeWith(new Date(made.at).toLocaleTimeString())} <code>{JSON.stringify(made.arguments)}</code> <button type="button" onClick={() => { replace(made.arguments); }}>{texts.call.takeThem}</button></p>
            )}
            <ResultPanel call={state.call} tookMs={state.tookMs ?? 0} next={following === undefined ? undefined : () => { replace(following); void call(following); }} />
          </>
        )}
        <SameCall tool={tool} document={document} session={session} />
      </section>
    </div>
  );
}

/** Why a text is no document of arguments; "" where it is one. */
function whyNot(text: string): string {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? "" : texts.call.notObject;
  } catch (error) {
    return `${texts.call.notJSON}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
