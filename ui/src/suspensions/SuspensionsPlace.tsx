/** Suspended calls: they wait for a person, other work or a credential. Also the calls of unknown outcome. */

import { addressOf, type Address } from "../address";
import { surface, type Catalog, type Run, type Suspension } from "../api/client";
import { useLoaded, wordsOf, type Loaded, type usePages } from "../api/use";
import { shown } from "../kit/escape";
import { until, useNow } from "../kit/time";
import { Banner, Known, Skeleton } from "../kit/small";
import { texts } from "../texts";
import { Grants } from "./Grants";
import { SuspensionPanel } from "./SuspensionPanel";

const GROUPS = texts.suspension.groups;
type Group = keyof typeof GROUPS;
const WORK = new Set(["pending", "external", "pause"]);

export function groupOf(suspension: Suspension): Group {
  return suspension.kind === "credential" ? "credential" : WORK.has(suspension.kind) ? "work" : "person";
}

type Pages = ReturnType<typeof usePages<Run>>;

/** `lost` are the runs with a call of unknown outcome, among so many of the newest. */
export default function SuspensionsPlace({ catalog, address, suspensions, lost, newest }: { catalog: Catalog; address: Address; suspensions: Loaded<{ suspensions: readonly Suspension[]; next?: string }>; lost: Pages; newest: number }) {
  const all = suspensions.value?.suspensions ?? [];
  const group = (Object.keys(GROUPS) as Group[]).find((one) => one === address.query["for"]) ?? "person";
  const id = address.parts[0];
  const isWord = id === undefined && address.query["for"] === "word";
  const chosen = all.find((suspension) => suspension.id === id);
  const listedGroup = chosen === undefined ? group : groupOf(chosen);
  const listed = all.filter((suspension) => groupOf(suspension) === listedGroup);
  return (
    <>
      <aside className="side" aria-label={texts.suspension.title}>
        <div className="side-head"><h3>{texts.suspension.title}</h3></div>
        {(Object.keys(GROUPS) as Group[]).map((one) => (
          <a key={one} className="list-item" href={addressOf("suspensions", [], { for: one })} aria-current={!isWord && one === listedGroup ? "page" : undefined}>
            <span>{GROUPS[one]}</span><span>{all.filter((suspension) => groupOf(suspension) === one).length}</span>
          </a>
        ))}
        <a className="list-item" href={addressOf("suspensions", [], { for: "word" })} aria-current={isWord ? "page" : undefined}><span>{texts.unknown.group}</span><span>{lost.value === undefined ? "" : `${lost.value.length}${lost.older === undefined ? "" : "+"}`}</span></a>
      </aside>
      {isWord ? <Lost runs={lost} newest={newest} /> : <main id="main" className="main" tabIndex={-1}>
        <h1>{texts.suspension.title} {GROUPS[listedGroup].toLowerCase()}</h1>
        <p className="muted">{texts.suspension.each}</p>
        {suspensions.error !== undefined && suspensions.value === undefined && <Banner>{wordsOf(suspensions.error)}</Banner>}
        {suspensions.value === undefined && suspensions.error === undefined && <Skeleton what={texts.places.suspensions} />}
        {suspensions.value !== undefined && listed.length === 0 && <p className="muted">{texts.suspension.none}</p>}
        {listed.length > 0 && <SuspensionTable suspensions={listed} chosen={id} />}
        {id !== undefined && <One id={id} listed={chosen} catalog={catalog} again={suspensions.again} />}
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

function SuspensionTable({ suspensions, chosen }: { suspensions: readonly Suspension[]; chosen: string | undefined }) {
  const now = useNow();
  return (
    <table>
      <thead><tr>{texts.suspension.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
      <tbody>{suspensions.map((suspension) => (
        <tr key={suspension.id} aria-current={suspension.id === chosen ? "true" : undefined}>
          <td><a href={addressOf("suspensions", [suspension.id])}>{shown(suspension.question ?? suspension.tool ?? suspension.kind)}</a></td>
          <td><Known text={suspension.requested_by} /></td>
          <td><Known text={suspension.agent} /></td>
          <td><Known text={suspension.session_id} /></td>
          <td>{suspension.created_at === undefined ? "–" : new Date(suspension.created_at * 1000).toLocaleString()}</td>
          <td>{suspension.expires_at === undefined ? texts.suspension.noEnd : until(suspension.expires_at, now)}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

/** The one that is chosen, also after it was answered and left the list. */
function One({ id, listed, catalog, again }: { id: string; listed: Suspension | undefined; catalog: Catalog; again: () => void }) {
  const loaded = useLoaded(`suspension ${id}`, () => surface.suspensions.get(id));
  const suspension = loaded.value ?? listed;
  if (suspension === undefined) return loaded.error === undefined ? <Skeleton what={texts.places.suspensions} /> : <Banner tone="waiting">{wordsOf(loaded.error)}</Banner>;
  return (
    <>
      <SuspensionPanel key={id} suspension={suspension} catalog={catalog} isOpen={listed !== undefined} again={() => { loaded.again(); again(); }} />
      <Grants session={suspension.session_id} />
    </>
  );
}
