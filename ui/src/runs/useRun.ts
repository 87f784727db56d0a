/** The events of a run, live: the client resumes a stream that broke behind the last event that it had. */

import { useEffect, useRef, useState } from "react";
import { surface, type RuntimeEvent } from "../api/client";
import { wordsOfThrown } from "../api/use";
import { added, EMPTY, type Timeline } from "./timeline";

const PAUSES: ReadonlySet<RuntimeEvent["type"]> = new Set(["tool_end", "approval_requested", "input_requested", "question_asked", "run_completed", "run_stream_end"]);

export interface Followed { readonly timeline: Timeline; readonly isLive: boolean; readonly broken: string }

const NOTHING: Followed = { timeline: EMPTY, isLive: false, broken: "" };

/** `ended` is told when what is followed changes its state: an answer is asked for, or the run is over. */
export function useRun(id: string, ended?: () => void): Followed {
  const latest = useRef(ended);
  useEffect(() => { latest.current = ended; });
  const [followed, setFollowed] = useState<{ id: string } & Followed>({ id, ...NOTHING });
  useEffect(() => {
    if (id === "") return;
    const stop = new AbortController();
    let timeline = EMPTY;
    const show = (isLive: boolean, broken: string) => { if (!stop.signal.aborted) setFollowed({ id, timeline, isLive, broken }); };
    const follow = async () => {
      const onConnection = (state: "open" | "lost") => { show(true, state === "lost" ? "The stream broke; the page resumes it." : ""); };
      for await (const event of surface.runs.events(id, { signal: stop.signal, onConnection })) {
        timeline = added(timeline, event);
        show(true, "");
        if (PAUSES.has(event.type)) latest.current?.();
      }
      show(false, "");
    };
    follow().catch((error: unknown) => { show(false, wordsOfThrown(error)); });
    return () => { stop.abort(); };
  }, [id]);
  return followed.id === id ? followed : NOTHING;
}
