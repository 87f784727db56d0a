/** The design as a picture: services, toolsets with their tools, agents, and who uses what; the lines say what the lists do. */

import { useRef, useState } from "react";
import { addressOf } from "../address";
import type { Agent, Catalog, Tool } from "../api/client";
import { shown } from "../kit/escape";
import { Dot } from "../kit/small";
import { texts } from "../texts";
import { behaviour } from "../tools/search";
import { Lines, type Link } from "./Lines";

export default function MapPlace({ agents, catalog }: { agents: readonly Agent[]; catalog: Catalog }) {
  const toolsets = new Map<string, Tool[]>();
  for (const tool of catalog.tools) toolsets.set(`${tool.service}.${tool.toolset}`, [...(toolsets.get(`${tool.service}.${tool.toolset}`) ?? []), tool]);
  const services = [...new Set(catalog.tools.flatMap((tool) => (tool.bind_to === undefined ? [] : [tool.bind_to.service])))];
  const ids = new Map(catalog.tools.map((tool) => [tool.name, tool.id]));
  const links: Link[] = [
    ...agents.flatMap((agent) => used(agent.tools.map((name) => ids.get(name) ?? name)).map(([toolset]): Link => ({ from: `agent ${agent.id}`, to: `toolset ${toolset}`, kind: "uses" }))),
    ...unique(catalog.tools.flatMap((tool): Link[] => (tool.agent === undefined ? [] : [{ from: `agent ${tool.agent}`, to: `toolset ${tool.service}.${tool.toolset}`, kind: "answers" }]))),
    ...unique(catalog.tools.flatMap((tool): Link[] => (tool.bind_to === undefined ? [] : [{ from: `toolset ${tool.service}.${tool.toolset}`, to: `service ${tool.bind_to.service}`, kind: "bound" }]))),
  ];
  const frame = useRef<HTMLDivElement>(null);
  const [lit, light] = useState("");
  const node = (id: string) => ({ "data-node": id, onPointerEnter: () => { light(id); }, onPointerLeave: () => { light(""); }, onFocus: () => { light(id); }, onBlur: () => { light(""); } });
  return (
    <main id="main" className="main wide" tabIndex={-1}>
      <h1>{shown(catalog.catalog.design)}</h1>
      <p className="muted">{texts.design.counts(agents.length, catalog.tools.length, toolsets.size, services.length)}</p>
      <p className="muted small legend">{texts.map}</p>
      <div className="columns map" ref={frame}>
        <Lines links={links} frame={frame} lit={lit} />
        <section aria-label={texts.places.agents}><h3>{texts.places.agents}</h3>
          {agents.length === 0 && <p className="muted">{texts.noAgents}</p>}
          {agents.map((agent) => (
            <div key={agent.id} className="panel" {...node(`agent ${agent.id}`)}>
              <a href={addressOf("agents", [agent.id])}><strong>{shown(agent.id)}</strong></a>
              <ul className="small">
                {used(agent.tools.map((name) => ids.get(name) ?? name)).map(([toolset, count]) => <li key={toolset}>uses {count} of <code>{shown(toolset)}</code></li>)}
                {catalog.tools.filter((tool) => tool.agent === agent.id).map((tool) => <li key={tool.id}>answers <a href={addressOf("tools", [tool.id])}>{shown(tool.name)}</a></li>)}
              </ul>
            </div>
          ))}
        </section>
        <section aria-label={texts.design.toolsets}><h3>{texts.design.toolsets}</h3>
          {[...toolsets].map(([id, tools]) => (
            <div key={id} className="panel" {...node(`toolset ${id}`)}>
              <strong>{shown(id)}</strong>
              {tools.map((tool) => {
                const [word, tone] = behaviour(tool)[0] ?? ["", ""];
                return <a key={tool.id} className="list-item" href={addressOf("tools", [tool.id])}><span>{shown(tool.title ?? tool.name)}</span><Dot tone={tone === "good" ? "" : tone} says={word} /></a>;
              })}
            </div>
          ))}
        </section>
        <section aria-label={texts.design.services}><h3>{texts.design.services}</h3>
          {services.length === 0 && <p className="muted">{texts.design.unbound}</p>}
          {services.map((service) => (
            <div key={service} className="panel" {...node(`service ${service}`)}><strong>{shown(service)}</strong>
              <ul className="small">{catalog.tools.filter((tool) => tool.bind_to?.service === service).map((tool) => <li key={tool.id}><code>{shown(tool.bind_to?.method ?? "")}</code> for <a href={addressOf("tools", [tool.id])}>{shown(tool.name)}</a></li>)}</ul>
            </div>
          ))}
        </section>
      </div>
    </main>
  );
}

function unique(links: readonly Link[]): readonly Link[] {
  return [...new Map(links.map((link) => [`${link.from} ${link.to}`, link])).values()];
}

function used(ids: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const toolset = id.slice(0, id.lastIndexOf("."));
    counts.set(toolset, (counts.get(toolset) ?? 0) + 1);
  }
  return [...counts];
}
