/** Tags, banners, keys and what is shown while something loads. */

import type { ReactNode } from "react";
import { texts } from "../texts";

export type Tone = "" | "good" | "waiting" | "bad" | "planning";

export function Tag({ tone = "", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`tag ${tone}`}>{children}</span>;
}

export function Dot({ tone, says }: { tone: Tone; says: string }) {
  return <span className={`dot ${tone}`} role="img" aria-label={says} title={says} />;
}

export function Banner({ tone = "", children }: { tone?: Tone; children: ReactNode }) {
  return <div className={`banner ${tone}`} role={tone === "bad" ? "alert" : "status"}>{children}</div>;
}

export function Skeleton({ what, rows = 4 }: { what: string; rows?: number }) {
  return (
    <div role="status" aria-label={texts.loading(what)}>
      {Array.from({ length: rows }, (_, index) => <div key={index} className="skeleton" />)}
    </div>
  );
}
