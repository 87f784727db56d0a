/** A call whose end nobody knows: what it was, and what a person can say or do about it. */

import { useRef, useState } from "react";
import { addressOf, go } from "../address";
import { surface, type Catalog } from "../api/client";
import { wordsOfThrown } from "../api/use";
import { asSomething, read, type Entered, type Slot } from "../forms/draft";
import { readText, TextEntry, Wrong } from "../forms/form";
import { Field } from "../forms/fields";
import { Shapes } from "../forms/shape";
import { shown } from "../kit/escape";
import { Banner, Tag } from "../kit/small";
import { pretty, type Json } from "../kit/values";
import { texts } from "../texts";
import { behaviour } from "../tools/search";
import { keepRequest, requestFor, requestOf, shareable } from "../tools/history";
import { textOf, type Timeline } from "./timeline";

type Said = "result" | "failed" | "not_run" | "again";
const ANSWERS: readonly Said[] = ["result", "failed", "not_run", "again"];

export function Unknown({ run, call, session, timeline, catalog, again }: { run: string; call: string; session: string; timeline: Timeline; catalog: Catalog; again: () => void }) {
  const [said, say] = useState<Said>();
  const [slot, setSlot] = useState<Slot>(null); // the result as JSON, or why it failed
  const [failed, setFailed] = useState("");
  const start = timeline.lines.find((line) => line.key === call)?.events.find((event) => event["type"] === "tool_start");
  const tool = catalog.tools.find((one) => one.id === textOf(start?.["tool"]));
  const given = start?.["arguments"];
  const id = `found-${call}`;
  const entered = said === undefined ? undefined : found(said, slot, id);
  const isSending = useRef(false); // before the button is drawn again
  const send = async () => {
    if (entered?.ok !== true || isSending.current) return;
    isSending.current = true;
    setFailed("");
    try {
      await surface.runs.resolve(run, { tool_call_id: call, ...entered.value });
      if (said === "again" && tool?.payload !== undefined) {
        const before = requestOf(tool.id);
        const shapes = new Shapes(tool.payload.schema, catalog.types);
        keepRequest(tool, requestFor(shapes, shareable(tool, given ?? {}), { ...before, session: session === "" ? before.session : { text: session } }, null));
        go(addressOf("tools", [tool.id]));
      } else again();
    } catch (error) {
      setFailed(wordsOfThrown(error));
    }
    isSending.current = false;
  };
  const words = texts.unknown;
  return (
    <section className="panel asks" aria-label={words.title}>
      <div className="row"><h2 className="grow">{words.title}: {shown(tool?.title ?? (textOf(start?.["tool"]) || call))}</h2>{tool !== undefined && behaviour(tool).map(([word, tone]) => <Tag key={word} tone={tone}>{word}</Tag>)}</div>
      <p>{words.why}</p>
      {given !== undefined && <><h3>{texts.call.arguments}</h3><pre>{pretty(given)}</pre></>}
      <fieldset>
        <legend className="label">{words.found}</legend>
        {ANSWERS.filter((one) => one !== "again" || tool?.payload !== undefined).map((one) => (
          <label key={one} className="choice"><input type="radio" name={`found ${call}`} checked={said === one} onChange={() => { say(one); setSlot(null); }} /> {words.answers[one]}</label>
        ))}
      </fieldset>
      {said === "result" && entered !== undefined && (
        <Field shapes={ANY} schema={ANY.root} slot={slot} set={setSlot} id={id} isRequired faults={entered.faults} issues={[]} secrets={[]} disabled={false} name={words.asks.result}
          label={<>{words.asks.result}{tool?.result !== undefined && <span className="muted small"> {shown(tool.result.name)}</span>}</>} />
      )}
      {said === "failed" && <TextEntry state={{ id, slot, set: setSlot, entered: readText(slot, id) }} label={words.asks.failed} name={words.asks.failed} isLong />}
      {entered !== undefined && slot !== null && <Wrong faults={entered.faults} />}
      {said === "again" && <p className="muted small">{words.again}</p>}
      {failed !== "" && <Banner tone="bad">{failed}</Banner>}
      <div className="row"><button type="button" className="primary" disabled={entered?.ok !== true} onClick={() => void send()}>{said === "again" ? words.fill : words.keep}</button></div>
    </section>
  );
}

const ANY = new Shapes({});

/** What is sent of what a person found out. */
function found(said: Said, slot: Slot, id: string): Entered<{ readonly outcome: "result"; readonly result: Json } | { readonly outcome: "failed"; readonly message: string } | { readonly outcome: "not_run" }> {
  const faults: ReadonlyMap<string, string> = new Map();
  if (said === "result") {
    const result = asSomething(read(ANY, slot, id));
    return result.ok ? { ok: true, value: { outcome: said, result: result.value }, faults } : result;
  }
  if (said !== "failed") return { ok: true, value: { outcome: "not_run" }, faults };
  const message = readText(slot, id);
  return message.ok ? { ok: true, value: { outcome: said, message: message.value }, faults } : message;
}
