/** Talk to an agent: what was said, what it does now, and what it asks. */

import { Fragment, useEffect, useRef, useState } from "react";
import { addressOf, go } from "../address";
import { Problem, surface, type Catalog, type Run, type ToolAnswer, type Turn, type Suspension } from "../api/client";
import { useLoaded, wordsOf, wordsOfThrown } from "../api/use";
import { TextEntry, useKeptText, Wrong } from "../forms/form";
import { faultsOf } from "../forms/draft";
import { shown, shownLines } from "../kit/escape";
import { Banner, Tag } from "../kit/small";
import { pretty, ValueTable, type Json } from "../kit/values";
import { TimelineView } from "../runs/TimelineView";
import { OutcomeTag } from "../results/ResultPanel";
import { ArtifactView } from "../views/ArtifactView";
import type { Timeline } from "../runs/timeline";
import { useRun } from "../runs/useRun";
import { texts } from "../texts";
import { Grants } from "../suspensions/Grants";
import { SuspensionPanel } from "../suspensions/SuspensionPanel";
import { FilePicker, pastedFiles, SaidFile, uploadOf } from "./files";

export function Conversation({ agent, session, catalog, again }: { agent: string; session: string; catalog: Catalog; again: () => void }) {
  const [started, setStarted] = useState("");
  const [said, setSaid] = useState("");
  const text = useKeptText(`message ${agent} ${session}`, "message");
  const named = useKeptText(`session ${agent}`, "session");
  const isSending = useRef(false); // before the form is drawn again
  const [failed, setFailed] = useState("");
  const [files, setFiles] = useState<readonly File[]>([]);
  const messages = useLoaded(`messages ${session}`, () => saidIn(session));
  const turns = messages.value ?? [];
  const run = started || (turns.at(-1)?.run_id ?? "");
  const suspensions = useLoaded("suspensions", () => surface.suspensions.list());
  const { timeline, isLive, broken } = useRun(run, () => { messages.again(); suspensions.again(); });
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => { end.current?.scrollIntoView({ block: "nearest" }); }, [turns.length, timeline.lines.length, timeline.saying]);
  const faults = session === "" ? faultsOf(text.entered, named.entered) : text.entered.faults;
  const isBlank = text.entered.ok && text.entered.value.trim() === "";
  const send = async () => {
    if (faults.size > 0 || !text.entered.ok || isBlank || isSending.current) return;
    const message = text.entered.value;
    const own = named.entered.ok && named.entered.value !== "" ? { session: named.entered.value } : {};
    const typed = text.slot;
    isSending.current = true;
    setFailed("");
    text.set(null);
    setSaid(message);
    try {
      const attached = files.length === 0 ? {} : { files: await Promise.all(files.map(uploadOf)) };
      const begun: Run = session === "" ? await surface.runs.start({ agent, message, ...own, ...attached }) : await surface.sessions.send(session, message, turns.length === 0 ? { agent, ...attached } : attached);
      setFiles([]);
      setStarted(begun.id);
      again();
      if (session === "" && begun.session_id !== undefined) go(addressOf("agents", [agent, begun.session_id]), true);
    } catch (error) {
      setFailed(wordsOfThrown(error));
      text.set(typed); // nothing that was typed is lost
      setSaid("");
    }
    isSending.current = false;
  };
  const ended = isLive ? "" : endOf(timeline);
  const isTold = turns.some((turn) => turn.run_id === run);
  const open = (suspensions.value?.suspensions ?? []).filter((suspension: Suspension) => run !== "" && suspension.run_id.startsWith(run));
  return (
    <div className="split">
      <section aria-label={texts.talk.title}>
        <div className="row"><h1>{shown(agent)}</h1><code className="muted">{shown(session) || texts.talk.fresh}</code></div>
        <div className="talk" role="log" aria-label={texts.talk.said}>
          {turns.map((turn, index) => <Said key={index} turn={turn} />)}
          {!isTold && said !== "" && <div className="said user">{shownLines(said)}</div>}
          {timeline.saying !== "" && <div className="said" aria-live="polite">{shownLines(timeline.saying)}</div>}
          {isLive && timeline.saying === "" && <p className="muted small" role="status">{shown(timeline.lines.at(-1)?.what ?? texts.talk.starting)}…</p>}
        </div>
        {open.map((suspension) => <SuspensionPanel key={suspension.id} suspension={suspension} catalog={catalog} isOpen again={suspensions.again} />)}
        <Grants session={session} />
        {ended !== "" && <Banner tone="bad">{shownLines(ended)}</Banner>}
        {(failed || broken || messages.error !== undefined) && <Banner tone="bad">{failed || broken || (messages.error !== undefined && wordsOf(messages.error))}</Banner>}
        <form onSubmit={(event) => { event.preventDefault(); void send(); }} onPaste={(event) => { setFiles([...files, ...pastedFiles(event)]); }}>
          {session === "" && <TextEntry state={named} label={texts.call.as} name={texts.call.as} isOptional><p className="help">{texts.newSessionHelp}</p></TextEntry>}
          <div className="row">
            <div className="grow"><TextEntry state={text} name={texts.talk.message(shown(agent))} placeholder={texts.talk.message(shown(agent))} /></div>
            <button className="primary" disabled={isBlank || faults.size > 0}>{texts.talk.send}</button>
          </div>
          <FilePicker files={files} set={setFiles} />
          <Wrong faults={faults} />
        </form>
        <div ref={end} />
      </section>
      <section className="panel" aria-label={texts.run.title}>
        <div className="row"><h2 className="grow">{texts.run.title}</h2><span className="muted small">{isLive ? `${texts.run.live} · ` : ""}{texts.run.counts(timeline.calls, timeline.tokens)}</span></div>
        {run === "" ? <p className="muted">{texts.talk.begins}</p> : <TimelineView timeline={timeline} />}
      </section>
    </div>
  );
}

/** The turns of a session; none of one that its first message begins. */
async function saidIn(session: string): Promise<readonly Turn[]> {
  if (session === "") return [];
  try {
    return (await surface.sessions.messages(session)).turns;
  } catch (error) {
    if (error instanceof Problem && error.is("not-found")) return [];
    throw error;
  }
}

/** How a run ended that did not complete; "" for any other. */
function endOf({ status, lines }: Timeline): string {
  return status === "failed" || status === "canceled" ? texts.runEnded(status, lines.at(-1)?.detail ?? "") : "";
}

function Said({ turn }: { turn: Turn }) {
  const answers = new Map(turn.messages.flatMap((message) => (message.type === "tools" ? message.answers : [])).map((answer) => [answer.id, answer]));
  return (
    <>
      {turn.messages.map((message, index) => {
        if (message.type === "user") return (
          <div key={index} className="said user">{shownLines(message.text)}{(message.files ?? []).map((file) => <SaidFile key={file.uri} file={file} />)}</div>
        );
        if (message.type === "tools") return null;
        return (
          <Fragment key={index}>
            {message.text !== undefined && message.text !== "" && <div className="said">{shownLines(message.text)}</div>}
            {(message.calls ?? []).map((call) => <CallLine key={call.id} name={call.name} given={call.arguments} answer={answers.get(call.id)} />)}
          </Fragment>
        );
      })}
    </>
  );
}

/** A call, folded: its arguments, what the model read of its result, and its artifacts. */
function CallLine({ name, given, answer }: { name: string; given: Json; answer: ToolAnswer | undefined }) {
  return (
    <details className="panel">
      <summary><strong>{shown(name)}</strong> {answer === undefined ? <Tag tone="planning">{texts.talk.noResult}</Tag> : <OutcomeTag outcome={answer.status} />}</summary>
      <h3>{texts.call.arguments}</h3><pre>{pretty(given)}</pre>
      {answer?.result !== undefined && <><h3>{texts.talk.read}</h3><ValueTable value={answer.result} /></>}
      {(answer?.artifacts ?? []).map((artifact) => <ArtifactView key={`${artifact.kind} ${artifact.digest}`} artifact={artifact} />)}
    </details>
  );
}
