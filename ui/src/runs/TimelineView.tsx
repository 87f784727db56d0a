/** A timeline as lines; a click pins the payloads of one below. */

import { useState } from "react";
import { addressOf } from "../address";
import { duration } from "../kit/time";
import { Dot } from "../kit/small";
import { pretty } from "../kit/values";
import type { Line, Timeline } from "./timeline";

export function TimelineView({ timeline }: { timeline: Timeline }) {
  const [pinned, pin] = useState("");
  const line = timeline.lines.find((one) => one.key === pinned);
  return (
    <>
      <div role="list" aria-label="Timeline">{timeline.lines.map((one) => <One key={one.key} line={one} isPinned={one.key === pinned} pin={() => { pin(one.key === pinned ? "" : one.key); }} />)}</div>
      {timeline.lines.length === 0 && <p className="muted">No event yet.</p>}
      {line !== undefined && <><h3>Events of {line.what}</h3>{line.events.map((event, index) => <pre key={index}>{pretty(event)}</pre>)}</>}
    </>
  );
}

function One({ line, isPinned, pin }: { line: Line; isPinned: boolean; pin: () => void }) {
  return (
    <div role="listitem" className={`line ${line.isChild ? "child" : ""}`}>
      <span className="muted small">{line.at.toFixed(2)} s</span>
      <Dot tone={line.tone} says={line.tone === "" ? line.what : line.tone} />
      <button type="button" className="plain" aria-pressed={isPinned} onClick={pin}><strong>{line.what}</strong> <span className="muted">{line.detail}</span></button>
      <span className="small">
        {line.durationS !== null && duration(line.durationS)}
        {line.wait !== "" && <a href={addressOf("waits", [line.wait])}>answer</a>}
        {line.child !== "" && <a href={addressOf("runs", [line.child])}>child run</a>}
      </span>
    </div>
  );
}
