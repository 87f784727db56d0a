/** What waits: for a person, for other work, for a credential; and what may have run. */

import { addressOf, type Address } from "../address";
import { surface, type Catalog, type Run, type Suspension } from "../api/client";
import { useLoaded, wordsOf, type Loaded, type usePages } from "../api/use";
import { shown } from "../kit/escape";
import { until, useNow } from "../kit/time";
import { Banner, Known, Skeleton } from "../kit/small";
import { texts } from "../texts";
import { Grants } from "./Grants";
import { WaitPanel } from "./WaitPanel";

const GROUPS = texts.wait.groups;
type Group = keyof typeof GROUPS;
const WORK = new Set(["pending", "external", "pause"]);

export function groupOf(wait: Suspension): Group {
  return wait.kind === "credential" ? "credential" : WORK.has(wait.kind) ? "work" : "person";
}

type Pages = ReturnType<typeof usePages<Run>>;

/** `lost` are the runs with a call of unknown outcome, among so many of the newest. */
export default function WaitsPlace({ catalog, address, waits, lost, newest }: { catalog: Catalog; address: Address; waits: Loaded<{ suspensions: readonly Suspension[]; next?: string }>; lost: Pages; newest: number }) {
  const all = waits.value?.suspensions ?? [];
  const group = (Object.keys(GROUPS) as Group[]).find((one) => one === address.query["for"]) ?? "person";
  const id = address.parts[0];
  const isWord = id === undefined && address.query["for"] === "word";
  const chosen = all.find((wait) => wait.id === id);
  const listedGroup = chosen === undefined ? group : groupOf(chosen);
  const listed = all.filter((wait) => groupOf(wait) === listedGroup);
  return (
    <>
      <aside className="side" aria-label={texts.wait.title}>
        <div className="side-head"><h3>{texts.wait.title}</h3></div>
        {(Object.keys(GROUPS) as Group[]).map((one) => (
          <a key={one} className="list-item" href={addressOf("waits", [], { for: one })} aria-current={!isWord && one === listedGroup ? "page" : undefined}>
            <span>{GROUPS[one]}</span><span>{all.filter((wait) => groupOf(wait) === one).length}</span>
          </a>
        ))}
        <a className="list-item" href={addressOf("waits", [], { for: "word" })} aria-current={isWord ? "page" : undefined}><span>{texts.unknown.group}</span><span>{lost.value === undefined ? "" : `${lost.value.length}${lost.older === undefined ? "" : "+"}`}</span></a>
      </aside>
      {isWord ? <Lost runs={lost} newest={newest} /> : <main id="main" className="main" tabIndex={-1}>
        <h1>{texts.wait.title} {GROUPS[listedGroup].toLowerCase()}</h1>
        <p className="muted">{texts.wait.each}</p>
        {waits.error !== undefined && waits.value === undefined && <Banner>{wordsOf(waits.error)}</Banner>}
        {waits.value === undefined && waits.error === undefined && <Skeleton what={texts.places.waits} />}
        {waits.value !== undefined && listed.length === 0 && <p className="muted">{texts.wait.none}</p>}
        {listed.length > 0 && <WaitTable waits={listed} chosen={id} />}
        {id !== undefined && <One id={id} listed={chosen} catalog={catalog} again={waits.again} />}
      </main>}
    </>
  );
}

/** Runs with a call that may have run, and needs a word. */
function Lost({ runs, newest }: { runs: Pages; newest: number }) {
  return (
    <main id="main" className="main" tabIndex={-1}>
      <h1>{texts.unknown.title}</h1>
      <p className="muted">{texts.unknown.why} {runs.older === undefined ? texts.unknown.all : texts.unknown.newest(newest)}</p>
      {runs.error !== undefined && <Banner>{wordsOf(runs.error)}</Banner>}
      {runs.value === undefined && runs.error === undefined && <Skeleton what={texts.unknown.title} />}
      {runs.value?.length === 0 && <p className="muted">{texts.unknown.none}</p>}
      {(runs.value?.length ?? 0) > 0 && <table>
        <thead><tr>{texts.unknown.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>{runs.value?.map((run) => (
          <tr key={run.id}>
            <td><a href={addressOf("runs", [run.id])}>{shown(run.message ?? run.tool ?? run.agent ?? run.id)}</a></td>
            <td>{run.unknown_calls?.length}</td><td><Known text={run.session_id} /></td><td>{run.status}</td>
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
          <td><Known text={wait.requested_by} /></td>
          <td><Known text={wait.agent} /></td>
          <td><Known text={wait.session_id} /></td>
          <td>{wait.created_at === undefined ? "–" : new Date(wait.created_at * 1000).toLocaleString()}</td>
          <td>{wait.expires_at === undefined ? texts.wait.noEnd : until(wait.expires_at, now)}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

/** The one that is chosen, also after it was answered and left the list. */
function One({ id, listed, catalog, again }: { id: string; listed: Suspension | undefined; catalog: Catalog; again: () => void }) {
  const loaded = useLoaded(`wait ${id}`, () => surface.suspensions.get(id));
  const wait = loaded.value ?? listed;
  if (wait === undefined) return loaded.error === undefined ? <Skeleton what={texts.places.waits} /> : <Banner tone="waiting">{wordsOf(loaded.error)}</Banner>;
  return (
    <>
      <WaitPanel key={id} wait={wait} catalog={catalog} isOpen={listed !== undefined} again={() => { loaded.again(); again(); }} />
      <Grants session={wait.session_id} />
    </>
  );
}
