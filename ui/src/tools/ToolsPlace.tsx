/** The tools of the catalog: a list to search, and the page of one. */

import { useMemo, useRef } from "react";
import { addressOf, go, type Address } from "../address";
import type { Catalog } from "../api/client";
import { useKeys } from "../keys";
import { shown } from "../kit/escape";
import { List } from "../kit/list";
import { Dot } from "../kit/small";
import { texts } from "../texts";
import { behaviour, indexOf, search, type Row } from "./search";
import { ToolPage } from "./ToolPage";

export function ToolsPlace({ catalog, address }: { catalog: Catalog; address: Address }) {
  const field = useRef<HTMLInputElement>(null);
  const entries = useMemo(() => indexOf(catalog.tools), [catalog]);
  const { q = "", tag = "" } = address.query;
  const rows = useMemo(() => search(entries, q, tag), [entries, q, tag]);
  const id = address.parts[0] ?? "";
  const tool = catalog.tools.find((one) => one.id === id);
  const tools = rows.flatMap((row) => ("tool" in row ? [row.tool] : []));
  const tags = useMemo(() => [...new Set(catalog.tools.flatMap((one) => one.tags ?? []))].sort(), [catalog]);
  const step = (by: number) => {
    const next = tools[Math.max(0, Math.min(tools.length - 1, tools.findIndex((one) => one.id === id) + by))];
    if (next !== undefined) go(addressOf("tools", [next.id], { ...address.query, tab: undefined, call: undefined }));
  };
  useKeys({ "/": () => { field.current?.focus(); }, j: () => { step(1); }, k: () => { step(-1); } });
  const filter = (change: Record<string, string>) => { go(addressOf("tools", address.parts, { ...address.query, ...change }), true); };
  return (
    <>
      <aside className="side" aria-label={texts.places.tools}>
        <div className="side-head">
          <input ref={field} type="search" value={q} aria-label={texts.search(catalog.tools.length)} placeholder={`${texts.search(catalog.tools.length)}   /`}
            onChange={(event) => { filter({ q: event.target.value }); }}
            onKeyDown={(event) => {
              if (event.key === "Enter" && tools[0] !== undefined) go(addressOf("tools", [tools[0].id], { ...address.query, call: undefined }));
              if (event.key === "Escape") { filter({ q: "" }); event.currentTarget.blur(); }
            }} />
          {tags.length > 0 && (
            <select aria-label={texts.tag} value={tag} onChange={(event) => { filter({ tag: event.target.value }); }}>
              <option value="">{texts.allTags}</option>
              {tags.map((name) => <option key={name} value={name}>{shown(name)}</option>)}
            </select>
          )}
        </div>
        {catalog.tools.length === 0 && <p className="muted pad">{texts.noTools}</p>}
        {catalog.tools.length > 0 && rows.length === 0 && <p className="muted pad">{texts.nothingFound(shown(q))}</p>}
        <List<Row> label={texts.places.tools} rows={rows} selected={rows.findIndex((row) => "tool" in row && row.tool.id === id)}
          draw={(row) => "heading" in row ? <div className="list-heading">{shown(row.heading)}</div> : <Item row={row} selected={row.tool.id === id} query={address.query} />} />
      </aside>
      <main id="main" className="main" tabIndex={-1}>
        {tool !== undefined ? <ToolPage key={tool.id} tool={tool} catalog={catalog} address={address} /> : (
          <div className="start">
            <h1>{shown(catalog.catalog.design)}</h1>
            <p className="muted">{id === "" ? texts.chooseTool(catalog.tools.length) : texts.noTool(shown(id))}</p>
          </div>
        )}
      </main>
    </>
  );
}

function Item({ row, selected, query }: { row: Row & { readonly tool: Catalog["tools"][number] }; selected: boolean; query: Address["query"] }) {
  const [word, tone] = behaviour(row.tool)[0] ?? ["", ""];
  return (
    <a className="list-item" href={addressOf("tools", [row.tool.id], { ...query, tab: undefined, call: undefined })} aria-current={selected ? "page" : undefined}>
      <span title={shown(row.tool.id)}>{shown(row.tool.title ?? row.tool.name)}</span>
      <Dot tone={tone === "good" ? "" : tone} says={word} />
    </a>
  );
}
