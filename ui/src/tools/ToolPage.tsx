/** One tool: what it does, and the tabs to call it and to read it. */

import { addressOf, go, parseAddress, type Address } from "../address";
import type { Catalog, Tool } from "../api/client";
import { shown, shownLines } from "../kit/escape";
import { Banner, Tag } from "../kit/small";
import { Tabs } from "../kit/tabs";
import { pretty, type Json } from "../kit/values";
import { texts } from "../texts";
import { CallTab } from "./CallTab";
import { CodeTab } from "./CodeTab";
import { HistoryTab } from "./HistoryTab";
import { SchemaTab } from "./SchemaTab";
import { behaviour } from "./search";

const TABS = ["call", "schema", "examples", "history", "code"] as const;
type Tab = (typeof TABS)[number];

export function ToolPage({ tool, catalog, address }: { tool: Tool; catalog: Catalog; address: Address }) {
  const tab = TABS.find((name) => name === address.query["tab"]) ?? (tool.payload === undefined ? "schema" : "call");
  const show = (tab: Tab) => { go(addressOf("tools", [tool.id], { ...address.query, tab })); };
  const examples = [...(tool.payload?.examples ?? []), ...(tool.result?.examples ?? [])].length;
  const titles: Record<Tab, string> = { ...texts.tabs, examples: `${texts.tabs.examples} ${examples}` };
  return (
    <>
      <div className="row"><h1>{shown(tool.title ?? tool.name)}</h1><code className="muted">{shown(tool.id)}</code></div>
      <p className="description">{shownLines(tool.description ?? "")}</p>
      <div className="row">
        {behaviour(tool).map(([word, tone]) => <Tag key={word} tone={tone}>{word}</Tag>)}
        {(tool.tags ?? []).map((tag) => <Tag key={tag}>{shown(tag)}</Tag>)}
        {tool.payload !== undefined && <Tag>≈ {Math.ceil((JSON.stringify(tool.payload.schema).length + (tool.description ?? "").length) / 4)} tokens</Tag>}
      </div>
      {tool.deprecated !== undefined && (
        <Banner tone="waiting">{shown(tool.deprecated.reason)} {tool.deprecated.replacement !== undefined && <a href={addressOf("tools", [tool.deprecated.replacement])}>{shown(tool.deprecated.replacement)}</a>}</Banner>
      )}
      <Tabs<Tab> label={shown(tool.title ?? tool.name)} shown={tab} show={show} tabs={TABS.map((name) => [name, titles[name]])}>
        {tab === "call" && (tool.payload === undefined ? <p className="muted">{texts.call.byProvider}</p> : <CallTab tool={tool} payload={tool.payload} catalog={catalog} chosen={address.query["call"] ?? ""} choose={(call) => { go(addressOf("tools", [tool.id], { ...parseAddress(location.hash).query, call }), true); }} />)}
        {tab === "schema" && <SchemaTab tool={tool} catalog={catalog} />}
        {tab === "examples" && <Examples tool={tool} />}
        {tab === "history" && <HistoryTab tool={tool} />}
        {tab === "code" && (tool.payload === undefined ? <p className="muted">{texts.call.byProvider}</p> : <CodeTab tool={tool} payload={tool.payload} catalog={catalog} />)}
      </Tabs>
    </>
  );
}

function Examples({ tool }: { tool: Tool }) {
  const parts: readonly (readonly [string, readonly Json[]])[] = [[texts.schema.payload, tool.payload?.examples ?? []], [texts.schema.result, tool.result?.examples ?? []]];
  if (parts.every(([, examples]) => examples.length === 0)) return <p className="muted">{texts.schema.noExamples}</p>;
  return <>{parts.map(([name, examples]) => examples.map((example, index) => <section key={`${name} ${index}`}><h3>{name} {index + 1}</h3><pre>{pretty(example)}</pre></section>))}</>;
}
