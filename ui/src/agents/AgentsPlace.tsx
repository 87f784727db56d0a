/** Agents and their sessions; a conversation beside the timeline of its run. */

import { addressOf, type Address } from "../address";
import { Problem, surface, type Agent, type Catalogue } from "../api/client";
import { useLoaded } from "../api/use";
import { Dot } from "../kit/small";
import { texts } from "../texts";
import { Conversation } from "./Conversation";

const EVERY_MS = 10_000;

export default function AgentsPlace({ agents, catalogue, address }: { agents: readonly Agent[]; catalogue: Catalogue; address: Address }) {
  const sessions = useLoaded(`sessions ${String(agents.length > 0)}`, () => sessionsOf(agents), EVERY_MS);
  const [agent = agents[0]?.id ?? "", session = ""] = address.parts;
  const own = (sessions.value?.sessions ?? []).filter((one) => one.agent === agent);
  return (
    <>
      <aside className="side" aria-label="Agents">
        {agents.length === 0 && <p className="pad muted">{texts.noAgents}</p>}
        {agents.map((one) => (
          <a key={one.id} className="list-item" href={addressOf("agents", [one.id])} aria-current={one.id === agent ? "page" : undefined}><span>{one.id}</span></a>
        ))}
        {agents.length > 0 && <div className="list-heading">Sessions</div>}
        {sessions.error instanceof Problem && <p className="pad muted">{sessions.error.message}</p>}
        <nav className="list" aria-label="Sessions">
          {agent !== "" && <a className="list-item" href={addressOf("agents", [agent])} aria-current={session === "" ? "page" : undefined}><span>{texts.newSession}</span></a>}
          {own.map((one) => (
            <a key={one.id} className="list-item" href={addressOf("agents", [agent, one.id])} aria-current={one.id === session ? "page" : undefined}>
              <span>{one.id}</span><Dot tone={one.ended_at === undefined ? "good" : ""} says={one.ended_at === undefined ? "open" : "ended"} />
            </a>
          ))}
          {agents.length > 0 && sessions.value !== undefined && own.length === 0 && <p className="pad muted">None with this agent: say something.</p>}
        </nav>
      </aside>
      <main id="main" className="main" tabIndex={-1}>
        {agent === "" ? <p className="muted">{texts.noAgents}</p> : agents.length > 0 && !agents.some((one) => one.id === agent) ? <p className="muted">{texts.noAgent(agent)}</p> : <Conversation key={`${agent} ${session}`} agent={agent} session={session} catalogue={catalogue} again={sessions.again} />}
      </main>
    </>
  );
}

/** The newest sessions; a runtime without agents has none, and no path for them. */
async function sessionsOf(agents: readonly Agent[]): Promise<Awaited<ReturnType<typeof surface.sessions.list>>> {
  return agents.length === 0 ? { sessions: [] } : surface.sessions.list();
}
