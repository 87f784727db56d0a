/** A call whose end nobody knows: what it was, and what a person can say or do about it. */

import { useState } from "react";
import { addressOf, go } from "../address";
import { surface, type Catalogue } from "../api/client";
import { wordsOfThrown } from "../api/use";
import { Banner, Tag } from "../kit/small";
import { isObject, pretty, type Json } from "../kit/values";
import { texts } from "../texts";
import { behaviour } from "../tools/search";
import { draftOf, keepDraft } from "../tools/history";
import { textOf, type Timeline } from "./timeline";

type Said = "result" | "failed" | "not_run" | "again";
const ANSWERS: readonly Said[] = ["result", "failed", "not_run", "again"];

export function Unknown({ run, call, session, timeline, catalogue, again }: { run: string; call: string; session: string; timeline: Timeline; catalogue: Catalogue; again: () => void }) {
  const [said, say] = useState<Said>();
  const [text, setText] = useState("");
  const [failed, setFailed] = useState("");
  const start = timeline.lines.find((line) => line.key === call)?.events.find((event) => event["type"] === "tool_start");
  const tool = catalogue.tools.find((one) => one.id === textOf(start?.["tool"]));
  const given = start?.["arguments"];
  const send = async () => {
    setFailed("");
    try {
      const found = said === "result" ? { outcome: said, result: JSON.parse(text) as Json } : said === "failed" ? { outcome: said, message: text } : { outcome: "not_run" as const };
      await surface.runs.resolve(run, { tool_call_id: call, ...found });
      if (said === "again" && tool !== undefined) {
        keepDraft(tool.id, { document: isObject(given) ? given : {}, text: null, session: session || (draftOf(tool.id)?.session ?? "") });
        go(addressOf("tools", [tool.id]));
      } else again();
    } catch (error) {
      setFailed(error instanceof SyntaxError ? `${texts.call.notJSON}: ${error.message}` : wordsOfThrown(error));
    }
  };
  const words = texts.unknown;
  return (
    <section className="panel asks" aria-label={words.title}>
      <div className="row"><h2 className="grow">{words.title}: {tool?.title ?? (textOf(start?.["tool"]) || call)}</h2>{tool !== undefined && behaviour(tool).map(([word, tone]) => <Tag key={word} tone={tone}>{word}</Tag>)}</div>
      <p>{words.why}</p>
      {given !== undefined && <><h3>{texts.call.arguments}</h3><pre>{pretty(given)}</pre></>}
      <fieldset>
        <legend className="label">{words.found}</legend>
        {ANSWERS.filter((one) => one !== "again" || tool !== undefined).map((one) => (
          <label key={one} className="choice"><input type="radio" name={`found ${call}`} checked={said === one} onChange={() => { say(one); setText(""); }} /> {words.answers[one]}</label>
        ))}
      </fieldset>
      {(said === "result" || said === "failed") && (
        <div className="field">
          <label className="label" htmlFor={`said ${call}`}>{words.asks[said]}{said === "result" && tool?.result !== undefined && <span className="muted small"> {tool.result.name}</span>}</label>
          <textarea id={`said ${call}`} rows={said === "result" ? 5 : 2} spellCheck={said === "failed"} value={text} onChange={(event) => { setText(event.target.value); }} />
        </div>
      )}
      {said === "again" && <p className="muted small">{words.again}</p>}
      {failed !== "" && <Banner tone="bad">{failed}</Banner>}
      <div className="row"><button type="button" className="primary" disabled={said === undefined || (said === "result" && text === "")} onClick={() => void send()}>{said === "again" ? words.fill : words.keep}</button></div>
    </section>
  );
}
