/** The same call in other words: the shell, Python, TypeScript and curl. */

import { useState } from "react";
import { address, type Catalog, type Tool, type TypedSchema } from "../api/client";
import type { Entered } from "../forms/draft";
import { useShapes, Wrong } from "../forms/form";
import { visible, visibleLines } from "../kit/escape";
import { Copy } from "../kit/small";
import { Segmented } from "../kit/segmented";
import { compact, pretty, type JsonObject } from "../kit/values";
import { texts } from "../texts";
import { asked, requestOf, shareable, type Asked } from "./history";

const LANGUAGES = ["shell", "Python", "TypeScript", "curl"] as const;
type Language = (typeof LANGUAGES)[number];

export function CodeTab({ tool, payload, catalog }: { tool: Tool; payload: TypedSchema; catalog: Catalog }) {
  const shapes = useShapes(payload.schema, catalog.types);
  return <div className="panel"><SameCall tool={tool} asked={asked(shapes, requestOf(tool.id))} /></div>;
}

/** The call that would be sent; none while a field is wrong. */
export function SameCall({ tool, asked }: { tool: Tool; asked: Entered<Asked> }) {
  const [index, setIndex] = useState(0);
  if (!asked.ok) return <><h3>{texts.same}</h3><Wrong faults={asked.faults} /></>;
  const { arguments: given, session } = asked.value;
  const shared = shareable(tool, given, texts.hidden);
  const text = sameCall(LANGUAGES[index] ?? "shell", tool, shared, session, address);
  return (
    <>
      <h3>{texts.same}</h3>
      <div className="row"><Segmented label={texts.same} choices={LANGUAGES} chosen={index} choose={setIndex} /><span className="grow" /><Copy what={texts.same} text={text} /></div>
      <pre className="same">{visibleLines(text)}</pre>
      {compact(shared) !== compact(given) && <p className="help">{texts.sameHidden}</p>}
    </>
  );
}

/** The source text of a call. Arguments are data in each language, quoted by its own rules. */
export function sameCall(language: Language, tool: Tool, document: JsonObject, session: string, base: string): string {
  const json = compact(document);
  switch (language) {
    case "shell":
      return `toolgen call ${/^[\w.-]+$/.test(tool.id) ? tool.id : shellQuoted(tool.id)} ${shellQuoted(json)}${session && ` --session ${shellQuoted(session)}`}`;
    case "Python":
      return `import json\n\nresult = await runtime.call(\n    ${compact(tool.id)},\n    json.loads(${compact(json)}),\n${session && `    meta=CallMeta(session_id=${compact(session)}),\n`})`;
    case "TypeScript":
      return `const call = await fetch(${JSON.stringify(`${base}tools/${encodeURIComponent(tool.id)}/calls`)}, {\n  method: "POST",\n  headers: { "Content-Type": "application/json", Authorization: \`Bearer \${token}\` },\n  body: JSON.stringify({ arguments: ${literal(document).replaceAll("\n", "\n  ")}${session && `, session: ${compact(session)}`} }),\n});`;
    case "curl":
      return `curl -H 'Content-Type: application/json' -H "Authorization: Bearer $TOKEN" \\\n  --data ${shellQuoted(compact({ arguments: document, ...(session && { session }) }))} \\\n  ${shellQuoted(`${base}tools/${encodeURIComponent(tool.id)}/calls`)}`;
  }
}

/** An object in JavaScript, where a key "__proto__" without brackets would be its prototype. */
function literal(document: JsonObject): string {
  return pretty(document).replaceAll(/^( *)"__proto__":/gm, '$1["__proto__"]:');
}

/** One word of a POSIX shell, whatever is in it; what hides is an escape of the shell, too, so that the text that is copied is the one that is shown. */
export function shellQuoted(text: string): string {
  if (visible(text) === text) return `'${text.replaceAll("'", `'\\''`)}'`;
  const bytes = (part: string) => [...new TextEncoder().encode(part)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return `$'${Array.from(text, (part) => (visible(part) === part ? part.replace(/['\\]/, "\\$&") : bytes(part))).join("")}'`;
}
