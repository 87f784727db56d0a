/** A timeline as lines; a click pins the payloads of one below. */

import { useState } from "react";
import { addressOf } from "../address";
import { shown } from "../kit/escape";
import { duration } from "../kit/time";
import { Dot } from "../kit/small";
import { pretty } from "../kit/values";
import { lengthOf, type Line, type Timeline } from "./timeline";
import { texts } from "../texts";

export function TimelineView({ timeline }: { timeline: Timeline }) {
  const [pinned, pin] = useState("");
  const line = timeline.lines.find((one) => one.key === pinned);
  const lengthS = lengthOf(timeline);
  return (
    <>
      <div role="list" aria-label={texts.run.timeline}>{timeline.lines.map((one) => <One key={one.key} line={one} lengthS={lengthS} isPinned={one.key === pinned} pin={() => { pin(one.key === pinned ? "" : one.key); }} />)}</div>
      {timeline.lines.length === 0 && <p className="muted">{texts.run.noEvent}</p>}
      {line !== undefined && <><h3>{texts.run.eventsOf(shown(line.what))}</h3>{line.events.map((event, index) => <pre key={index}>{pretty(event)}</pre>)}</>}
    </>
  );
}

function One({ line, lengthS, isPinned, pin }: { line: Line; lengthS: number; isPinned: boolean; pin: () => void }) {
  return (
    <div role="listitem" className={`line ${line.isChild ? "child" : ""}`}>
      <span className="muted small">{line.at.toFixed(2)} s</span>
      <Dot tone={line.tone} says={line.tone === "" ? shown(line.what) : line.tone} />
      <button type="button" className="plain" aria-pressed={isPinned} title={`${shown(line.what)} ${shown(line.detail)}`} onClick={pin}><strong>{line.isName ? <code>{shown(line.what)}</code> : shown(line.what)}</strong> <span className="muted">{shown(line.detail)}</span></button>
      <span className="small">
        {line.durationS !== null && duration(line.durationS)}
        {line.suspension !== "" && <a href={addressOf("suspensions", [line.suspension])}>{texts.run.toAnswer}</a>}
        {line.child !== "" && <a href={addressOf("runs", [line.child])}>{texts.run.child}</a>}
      </span>
      <Bar line={line} lengthS={lengthS} />
    </div>
  );
}

/** When it was and how long it took, within the whole run; what took no time is a tick. */
function Bar({ line, lengthS }: { line: Line; lengthS: number }) {
  const share = (seconds: number) => (lengthS === 0 ? 0 : (100 * seconds) / lengthS);
  const width = Math.max(share(line.durationS ?? 0), 0.5);
  return (
    <svg className="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect className={line.tone} x={Math.min(share(line.at), 100 - width)} width={width} height={1} />
    </svg>
  );
}
