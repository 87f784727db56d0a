/** Search of tools as one types: in the page, over names, titles, descriptions and tags. */

import type { Tool } from "../api/client";
import type { Tone } from "../kit/small";
import { texts } from "../texts";

export interface Entry { readonly tool: Tool; readonly names: string; readonly all: string }
export interface Heading { readonly heading: string }
export type Row = Heading | { readonly tool: Tool };

export function indexOf(tools: readonly Tool[]): readonly Entry[] {
  return tools.map((tool) => {
    const names = [tool.id, tool.name, tool.title ?? ""].join("\n").toLowerCase();
    return { tool, names, all: [names, tool.description ?? "", ...(tool.tags ?? []), ...behaviour(tool).map(([word]) => word)].join("\n").toLowerCase() };
  });
}

/** The tools that have every word, by toolset; those that have all in their names come first. */
export function search(entries: readonly Entry[], words: string, tag: string): readonly Row[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter((entry) => parts.every((part) => entry.all.includes(part)) && (tag === "" || (entry.tool.tags ?? []).includes(tag)));
  if (parts.length > 0) {
    const [named, others] = [true, false].map((isNamed) => found.filter((entry) => parts.every((part) => entry.names.includes(part)) === isNamed));
    return [...(named ?? []), ...(others ?? [])].map(({ tool }) => ({ tool }));
  }
  const toolsets = new Map<string, Tool[]>();
  for (const { tool } of found) {
    const key = `${tool.service}.${tool.toolset}`;
    toolsets.set(key, [...(toolsets.get(key) ?? []), tool]);
  }
  return [...toolsets.values()].flatMap((tools) => {
    const first = tools[0];
    const title = first?.toolset_title ?? first?.toolset ?? "";
    return [{ heading: first?.kind === "agent" ? `${title} · ${texts.behaviour.agent}` : title }, ...tools.map((tool) => ({ tool }))];
  });
}

/** Whether the author says that a call destroys something. */
export function destroys({ annotations, assumed_destructive }: Tool): boolean {
  return annotations?.destructiveHint === true && annotations.readOnlyHint !== true && assumed_destructive !== true;
}

/** What a call does, in words, each with the tone of its tag. */
export function behaviour(tool: Tool): readonly (readonly [string, Tone])[] {
  const hints = tool.annotations ?? {};
  const words: [string, Tone][] = [];
  if (tool.kind === "native") words.push([texts.behaviour.native, ""]);
  else if (hints.readOnlyHint === true) words.push([texts.behaviour.reads, "good"]);
  else if (destroys(tool)) words.push([texts.behaviour.destroys, "bad"]);
  else if (tool.assumed_destructive === true) words.push([texts.behaviour.undeclared, "waiting"]);
  else words.push([texts.behaviour.writes, "waiting"]);
  if (hints.idempotentHint === true && hints.readOnlyHint !== true) words.push([texts.behaviour.repeatable, ""]);
  if (tool.confirmation !== undefined) words.push([texts.behaviour.asks, "waiting"]);
  if (tool.long_running !== undefined) words.push([texts.behaviour.later, "waiting"]);
  if (tool.kind === "agent") words.push([texts.behaviour.agent, ""]);
  if (tool.deprecated !== undefined) words.push([texts.behaviour.deprecated, "bad"]);
  return words;
}
