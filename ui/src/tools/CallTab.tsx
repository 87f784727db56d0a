/** Call a tool: arguments left, result right. Form and JSON are two views of one document, and what they show is what is sent. */

import { useEffect, useMemo, useRef, useState } from "react";
import { Problem, surface, type AnyCall, type Catalog, type Issue, type Tool, type TypedSchema } from "../api/client";
import { draftFor, TextEntry, useShapes, Wrong } from "../forms/form";
import { DocumentForm } from "../forms/DocumentForm";
import type { Entered, Slot } from "../forms/draft";
import { useKeys } from "../keys";
import { shown, visibleSource } from "../kit/escape";
import { later } from "../kit/later";
import { Banner, Skeleton } from "../kit/small";
import { Segmented } from "../kit/segmented";
import { compact, isObject, pretty, type Json, type JsonObject } from "../kit/values";
import { wordsOf } from "../api/use";
import { ResultPanel } from "../results/ResultPanel";
import { texts } from "../texts";
import { ARGUMENTS, asked, historyOf, keepRequest, remember, requestFor, requestOf, SESSION, shareable, type Asked, type Request } from "./history";
import { SameCall } from "./CodeTab";
import { destroys } from "./search";

const JSONEditor = later(texts.call.json, () => import("../forms/JSONEditor"));

interface State {
  readonly call?: AnyCall | undefined;
  readonly tookMs?: number | undefined;
  readonly issues: readonly Issue[];
  readonly failed?: string;
  readonly busy: boolean;
}

/** `chosen` is the id of the call whose result is shown, of those that this tab of the browser has made. */
export function CallTab({ tool, payload, catalog, chosen, choose }: { tool: Tool; payload: TypedSchema; catalog: Catalog; chosen: string; choose: (call: string) => void }) {
  const shapes = useShapes(payload.schema, catalog.types);
  const [request, setRequest] = useState(() => requestOf(tool.id));
  const entered = useMemo(() => asked(shapes, request), [shapes, request]);
  const made = useMemo(() => (chosen === "" ? undefined : historyOf(tool.id).find((one) => one.call.id === chosen)), [tool.id, chosen]);
  const [state, setState] = useState<State>({ call: made?.call, tookMs: made?.tookMs, issues: [], busy: false });
  const busy = useRef(false); // before the button is drawn again
  useEffect(() => { keepRequest(tool, request); }, [tool, request]);

  const { text } = request;
  const change = (part: Partial<Request>) => { setRequest({ ...request, ...part }); };
  const replaced = (document: JsonObject) => requestFor(shapes, document, request, text === null ? null : pretty(document));
  const replace = (next: Request) => {
    setRequest(next);
    setState({ ...state, issues: [] });
  };
  const view = (isForm: boolean) => {
    if (!entered.ok || isForm === (text === null)) return;
    setRequest(requestFor(shapes, entered.value.arguments, request, isForm ? null : pretty(entered.value.arguments)));
  };
  const call = async (sent: Entered<Asked>) => {
    if (!sent.ok || busy.current) return;
    busy.current = true;
    const began = performance.now();
    const { arguments: given, session } = sent.value;
    setState({ issues: [], busy: true });
    let next: State;
    try {
      const made = await surface.call(tool.id, given, { trace: true, session: session === "" ? undefined : session });
      const tookMs = performance.now() - began;
      remember(tool, { at: Date.now(), arguments: given, call: made, tookMs });
      choose(made.id);
      next = { call: made, tookMs, issues: made.status === "error" ? (made.error.issues ?? []) : [], busy: false };
    } catch (error) {
      next = { issues: error instanceof Problem ? error.issues : [], failed: error instanceof Problem ? wordsOf(error) : texts.notSent, busy: false };
    }
    busy.current = false;
    setState(next);
  };
  const page = (following: JsonObject) => {
    const next = replaced(following);
    replace(next);
    void call(asked(shapes, next));
  };
  useKeys({ "Ctrl Enter": () => { void call(entered); } });
  const isForm = text === null;
  const following = state.call?.status === "ok" ? state.call.next_arguments : undefined;
  const verb = destroys(tool) ? (tool.title ?? tool.name) : texts.tabs.call;
  return (
    <div className="split">
      <section className="panel" aria-label={texts.call.arguments}>
        <div className="row">
          <h2 className="grow">{texts.call.arguments}</h2>
          <Segmented label={texts.call.view} choices={[texts.call.form, texts.call.json]} chosen={isForm ? 0 : 1}
            choose={(index) => { view(index === 0); }} disabled={!entered.ok} />
        </div>
        {isForm
          ? <DocumentForm id={ARGUMENTS} name={shown(tool.title ?? tool.name)} shapes={shapes} sensitive={payload.sensitive} draft={draftFor(shapes, request.form)} entered={entered} issues={state.issues} change={(slot: Slot) => { change({ form: { slot } }); }} />
          : <JSONEditor label={texts.call.arguments} text={text} issues={state.issues} change={(next) => { change({ text: visibleSource(next) }); }} run={() => { void call(entered); }} />}
        {!isForm && entered.faults.has(ARGUMENTS) && <p className="issue fault">{entered.faults.get(ARGUMENTS)}</p>}
        {!isForm && state.issues.map((issue) => <p key={`${issue.path} ${issue.constraint}`} className="issue"><code>{shown(issue.path)}</code> {shown(issue.message)}</p>)}
        <TextEntry state={{ id: SESSION, slot: request.session, set: (session) => { change({ session }); }, entered: sessionOf(entered) }} label={texts.call.as} name={texts.call.as} isOptional>
          <p className="help">{texts.call.asHelp}{(tool.inject ?? []).length > 0 && ` ${texts.call.injected} ${tool.inject?.map(shown).join(", ")}.`}</p>
        </TextEntry>
        <Wrong faults={entered.faults} />
        <div className="row">
          <button type="button" className={destroys(tool) ? "danger" : "primary"} disabled={state.busy || !entered.ok} onClick={() => { void call(entered); }}>{shown(verb)}</button>
          {(payload.examples ?? []).slice(0, 3).map((example, index) => (
            <button key={index} type="button" onClick={() => { if (isObject(example)) replace(replaced(example)); }}>{texts.call.example}{index > 0 && ` ${index + 1}`}</button>
          ))}
          {(request.form !== null || text !== null) && <button type="button" onClick={() => { replace({ ...request, form: null, text: text === null ? null : "{}" }); }}>{texts.call.clear}</button>}
          <span className="grow" /><kbd>Ctrl ↵</kbd>
        </div>
      </section>
      <section className="panel" aria-label={texts.call.result} aria-busy={state.busy} aria-live="polite">
        <h2>{texts.call.result}</h2>
        {state.failed !== undefined && <Banner tone="bad">{state.failed}</Banner>}
        {state.busy && <Skeleton what={texts.call.running(shown(tool.title ?? tool.name))} />}
        {!state.busy && state.call === undefined && state.failed === undefined && <p className="muted">{texts.call.nothingYet}</p>}
        {!state.busy && state.call !== undefined && (
          <>
            {made !== undefined && state.call.id === made.call.id && !(entered.ok && sameJson(made.arguments, shareable(tool, entered.value.arguments))) && (
              <p className="muted small">{texts.call.madeWith(new Date(made.at).toLocaleTimeString())} <code>{compact(made.arguments)}</code> <button type="button" onClick={() => { replace(replaced(made.arguments)); }}>{texts.call.takeThem}</button></p>
            )}
            <ResultPanel call={state.call} tookMs={state.tookMs ?? 0} next={following === undefined ? undefined : () => { page(following); }} />
          </>
        )}
        <SameCall tool={tool} asked={entered} />
      </section>
    </div>
  );
}

/** What was read from the field of the session alone. */
function sessionOf(entered: Entered<Asked>): Entered<string> {
  return entered.ok ? { ...entered, value: entered.value.session } : entered;
}

/** Whether two documents are the same, whatever the order of their keys. */
function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (isObject(left) && isObject(right)) return Object.keys(left).length === Object.keys(right).length && Object.keys(left).every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
  if (Array.isArray(left) && Array.isArray(right)) return left.length === right.length && left.every((item, at) => sameJson(item as Json, right[at] as Json));
  return left === right;
}
