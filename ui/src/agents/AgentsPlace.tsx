/** Agents and their sessions; a conversation beside the timeline of its run. */

import { addressOf, type Address } from "../address";
import { Problem, surface, type Agent, type Catalog, type Run, type Session, type Suspension } from "../api/client";
import { usePages, wordsOf } from "../api/use";
import { shown } from "../kit/escape";
import { Dot } from "../kit/small";
import { texts } from "../texts";
import { Conversation } from "./Conversation";

const EVERY_MS = 10_000;

/** `suspensions` are the suspended calls, `lost` the runs with a call of unknown outcome. */
export default function AgentsPlace({ agents, catalog, address, suspensions, lost }: { agents: readonly Agent[]; catalog: Catalog; address: Address; suspensions: readonly Suspension[]; lost: readonly Run[] }) {
  const sessions = usePages<Session>(`sessions ${String(agents.length > 0)}`, (after) => sessionsOf(agents, after), EVERY_MS);
  const [agent = agents[0]?.id ?? "", session = ""] = address.parts;
  const own = (sessions.value ?? []).filter((one) => one.agent === agent);
  return (
    <>
      <aside className="side" aria-label={texts.places.agents}>
        {agents.length === 0 && <p className="pad muted">{texts.noAgents}</p>}
        {agents.map((one) => (
          <a key={one.id} className="list-item" href={addressOf("agents", [one.id])} aria-current={one.id === agent ? "page" : undefined}><span>{shown(one.id)}</span></a>
        ))}
        {agents.length > 0 && <div className="list-heading">{texts.talk.sessions}</div>}
        {sessions.error instanceof Problem && <p className="pad muted">{wordsOf(sessions.error)}</p>}
        <nav className="list" aria-label={texts.talk.sessions}>
          {agent !== "" && <a className="list-item" href={addressOf("agents", [agent])} aria-current={session === "" ? "page" : undefined}><span>{texts.newSession}</span></a>}
          {own.map((one) => (
            <a key={one.id} className="list-item" href={addressOf("agents", [agent, one.id])} aria-current={one.id === session ? "page" : undefined}>
              <span title={shown(one.id)}>{shown(one.message ?? one.id)}</span><SessionDot session={one} suspensions={suspensions} lost={lost} />
            </a>
          ))}
          {agents.length > 0 && sessions.value !== undefined && own.length === 0 && <p className="pad muted">{texts.talk.none}</p>}
          {sessions.older !== undefined && <button type="button" className="plain" onClick={sessions.older}>{texts.older}</button>}
        </nav>
      </aside>
      <main id="main" className="main" tabIndex={-1}>
        {agent === "" ? <p className="muted">{texts.noAgents}</p> : agents.length > 0 && !agents.some((one) => one.id === agent) ? <p className="muted">{texts.noAgent(shown(agent))}</p> : <Conversation key={`${agent} ${session}`} agent={agent} session={session} catalog={catalog} again={sessions.again} />}
      </main>
    </>
  );
}

function SessionDot({ session: { id, ended_at }, suspensions, lost }: { session: Session; suspensions: readonly Suspension[]; lost: readonly Run[] }) {
  const isIts = (one: Suspension | Run) => one.session_id === id;
  if (lost.some(isIts)) return <Dot tone="bad" says={texts.unknown.title} />;
  if (suspensions.some(isIts)) return <Dot tone="waiting" says={texts.suspension.title} />;
  return <Dot tone={ended_at === undefined ? "planning" : ""} says={ended_at === undefined ? texts.talk.open : texts.talk.ended} />;
}

/** The newest sessions; a runtime without agents has none, and no path for them. */
async function sessionsOf(agents: readonly Agent[], after: string | undefined): Promise<{ items: readonly Session[]; next?: string | undefined }> {
  if (agents.length === 0) return { items: [] };
  const { sessions: items, next } = await surface.sessions.list({ after });
  return { items, next };
}
