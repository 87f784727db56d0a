/** Tags, banners, keys and what is shown while something loads. */

import { useState, type ReactNode } from "react";
import { texts } from "../texts";
import { shown } from "./escape";

export type Tone = "" | "good" | "waiting" | "bad" | "planning";

export function Tag({ tone = "", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`tag ${tone}`}>{children}</span>;
}

export function Dot({ tone, says }: { tone: Tone; says: string }) {
  return <span className={`dot ${tone}`} role="img" aria-label={says} title={says} />;
}

/** A text that somebody else chose, or that there is none: no text looks like that. */
export function Known({ text, none = "–" }: { text: string | undefined; none?: string }) {
  return text === undefined || text === "" ? <span className="muted">{none}</span> : <code>{shown(text)}</code>;
}

export function Banner({ tone = "", children }: { tone?: Tone; children: ReactNode }) {
  return <div className={`banner ${tone}`} role={tone === "bad" ? "alert" : "status"}>{children}</div>;
}

/** Copies a text; what it copies stands beside it. */
export function Copy({ what, text }: { what: string; text: string }) {
  const [copied, setCopied] = useState("");
  const words = texts.copy;
  const says = copied === text ? words.done : copied === "" ? words.label : words.failed;
  const copy = () => { navigator.clipboard.writeText(text).then(() => { setCopied(text); }, () => { setCopied(`not ${text}`); }); };
  return <button type="button" className="plain small" aria-live="polite" onBlur={() => { setCopied(""); }} onClick={copy}>{says}<span className="hidden-text"> {what}</span></button>;
}

export function Skeleton({ what, rows = 4 }: { what: string; rows?: number }) {
  return (
    <div role="status" aria-label={texts.loading(what)}>
      {Array.from({ length: rows }, (_, index) => <div key={index} className="skeleton" />)}
    </div>
  );
}
