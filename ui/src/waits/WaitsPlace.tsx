/** What waits: for a person, for other work, for a credential; and what may have run. */

import { addressOf, type Address } from "../address";
import { surface, type Catalogue, type Run, type Suspension } from "../api/client";
import { useLoaded, usePages, wordsOf, type Loaded } from "../api/use";
import { shown } from "../kit/escape";
import { until, useNow } from "../kit/time";
import { Banner, Skeleton } from "../kit/small";
import { texts } from "../texts";
import { WaitPanel } from "./WaitPanel";

const GROUPS = texts.wait.groups;
type Group = keyof typeof GROUPS;
/** How many runs are looked through at once for calls of unknown outcome. */
const NEWEST = 100;
const WORK = new Set(["pending", "external", "pause"]);

export function groupOf(wait: Suspension): Group {
  return wait.kind === "credential" ? "credential" : WORK.has(wait.kind) ? "work" : "person";
}

export default function WaitsPlace({ catalogue, address, waits }: { catalogue: Catalogue; address: Address; waits: Loaded<{ suspensions: readonly Suspension[]; next?: string }> }) {
  const all = waits.value?.suspensions ?? [];
  const shown = (Object.keys(GROUPS) as Group[]).find((group) => group === address.query["for"]) ?? "person";
  const id = address.parts[0];
  const isWord = id === undefined && address.query["for"] === "word";
  const lost = usePages<Run>("unknown", async (after) => {
    const { runs: items, next } = await surface.runs.list({ after, status: "unknown", limit: NEWEST });
    return { items, next };
  });
  const chosen = all.find((wait) => wait.id === id);
  const listed = all.filter((wait) => groupOf(wait) === (chosen === undefined ? shown : groupOf(chosen)));
  return (
    <>
      <aside className="side" aria-label={texts.wait.title}>
        <div className="side-head"><h3>{texts.wait.title}</h3></div>
        {(Object.keys(GROUPS) as Group[]).map((group) => (
          <a key={group} className="list-item" href={addressOf("waits", [], { for: group })} aria-current={!isWord && group === (chosen === undefined ? shown : groupOf(chosen)) ? "page" : undefined}>
            <span>{GROUPS[group]}</span><span>{all.filter((wait) => groupOf(wait) === group).length}</span>
          </a>
        ))}
        <a className="list-item" href={addressOf("waits", [], { for: "word" })} aria-current={isWord ? "page" : undefined}><span>{texts.unknown.group}</span><span>{lost.value === undefined ? "" : `${lost.value.length}${lost.older === undefined ? "" : "+"}`}</span></a>
      </aside>
      {isWord ? <Lost runs={lost} /> : <main id="main" className="main" tabIndex={-1}>
        <h1>{texts.wait.title} {GROUPS[chosen === undefined ? shown : groupOf(chosen)].toLowerCase()}</h1>
        <p className="muted">{texts.wait.each}</p>
        {waits.error !== undefined && waits.value === undefined && <Banner>{wordsOf(waits.error)}</Banner>}
        {waits.value === undefined && waits.error === undefined && <Skeleton what={texts.places.waits} />}
        {waits.value !== undefined && listed.length === 0 && <p className="muted">{texts.wait.none}</p>}
        {listed.length > 0 && <WaitTable waits={listed} chosen={id} />}
        {id !== undefined && <One id={id} listed={chosen} catalogue={catalogue} again={waits.again} />}
      </main>}
    </>
  );
}

/** Runs with a call that may have run, and needs a word. */
function Lost({ runs }: { runs: ReturnType<typeof usePages<Run>> }) {
  return (
    <main id="main" className="main" tabIndex={-1}>
      <h1>{texts.unknown.title}</h1>
      <p className="muted">{texts.unknown.why} {runs.older === undefined ? texts.unknown.all : texts.unknown.newest(NEWEST * runs.pages)}</p>
      {runs.error !== undefined && <Banner>{wordsOf(runs.error)}</Banner>}
      {runs.value === undefined && runs.error === undefined && <Skeleton what={texts.unknown.title} />}
      {runs.value?.length === 0 && <p className="muted">{texts.unknown.none}</p>}
      {(runs.value?.length ?? 0) > 0 && <table>
        <thead><tr>{texts.unknown.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>{runs.value?.map((run) => (
          <tr key={run.id}>
            <td><a href={addressOf("runs", [run.id])}>{shown(run.message ?? run.tool ?? run.agent ?? run.id)}</a></td>
            <td>{run.unknown_calls?.length}</td><td><code>{shown(run.session_id ?? "–")}</code></td><td>{run.status}</td>
          </tr>
        ))}</tbody>
      </table>}
      {runs.older !== undefined && <button type="button" onClick={runs.older}>{texts.older}</button>}
    </main>
  );
}

function WaitTable({ waits, chosen }: { waits: readonly Suspension[]; chosen: string | undefined }) {
  const now = useNow();
  return (
    <table>
      <thead><tr>{texts.wait.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
      <tbody>{waits.map((wait) => (
        <tr key={wait.id} aria-current={wait.id === chosen ? "true" : undefined}>
          <td><a href={addressOf("waits", [wait.id])}>{shown(wait.question ?? wait.tool ?? wait.kind)}</a></td>
          <td>{shown([wait.requested_by, wait.agent].filter(Boolean).join(", by ")) || "–"}</td>
          <td><code>{shown(wait.session_id ?? "–")}</code></td>
          <td>{wait.created_at === undefined ? "–" : new Date(wait.created_at * 1000).toLocaleString()}</td>
          <td>{wait.expires_at === undefined ? texts.wait.noEnd : until(wait.expires_at, now)}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

/** The one that is chosen, also after it was answered and left the list. */
function One({ id, listed, catalogue, again }: { id: string; listed: Suspension | undefined; catalogue: Catalogue; again: () => void }) {
  const loaded = useLoaded(`wait ${id}`, () => surface.suspensions.get(id));
  const wait = loaded.value ?? listed;
  if (wait === undefined) return loaded.error === undefined ? <Skeleton what={texts.places.waits} /> : <Banner tone="waiting">{wordsOf(loaded.error)}</Banner>;
  return <WaitPanel key={id} wait={wait} catalogue={catalogue} isOpen={listed !== undefined} again={() => { loaded.again(); again(); }} />;
}
