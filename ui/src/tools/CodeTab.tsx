/** The same call in other words: the shell, Python, TypeScript and curl. */

import { useState } from "react";
import { address, type Tool } from "../api/client";
import { Copy } from "../kit/small";
import { Segmented } from "../kit/segmented";
import { pretty, type JsonObject } from "../kit/values";
import { texts } from "../texts";
import { draftOf } from "./history";

const LANGUAGES = ["shell", "Python", "TypeScript", "curl"] as const;
type Language = (typeof LANGUAGES)[number];

export function CodeTab({ tool }: { tool: Tool }) {
  const draft = draftOf(tool.id);
  return <div className="panel"><SameCall tool={tool} document={draft?.document ?? {}} session={draft?.session ?? ""} /></div>;
}

export function SameCall({ tool, document, session }: { tool: Tool; document: JsonObject; session: string }) {
  const [index, setIndex] = useState(0);
  const shown = sameCall(LANGUAGES[index] ?? "shell", tool, document, session, address);
  return (
    <>
      <h3>{texts.same}</h3>
      <div className="row"><Segmented label={texts.same} choices={LANGUAGES} chosen={index} choose={setIndex} /><span className="grow" /><Copy what={texts.same} text={shown} /></div>
      <pre className="same">{shown}</pre>
    </>
  );
}

/** The source text of a call. Arguments are data in each language, quoted by its own rules. */
export function sameCall(language: Language, tool: Tool, document: JsonObject, session: string, base: string): string {
  const json = JSON.stringify(document);
  switch (language) {
    case "shell":
      return `toolgen call ${tool.id} ${shellQuoted(json)}${session && ` --session ${shellQuoted(session)}`}`;
    case "Python":
      return `import json\n\nresult = await runtime.call(\n    ${JSON.stringify(tool.id)},\n    json.loads(${JSON.stringify(json)}),\n${session && `    meta=CallMeta(session_id=${JSON.stringify(session)}),\n`})`;
    case "TypeScript":
      return `const call = await fetch(${JSON.stringify(`${base}tools/${encodeURIComponent(tool.id)}/calls`)}, {\n  method: "POST",\n  headers: { "Content-Type": "application/json" },\n  body: JSON.stringify({ arguments: ${pretty(document).replaceAll("\n", "\n  ")}${session && `, session: ${JSON.stringify(session)}`} }),\n});`;
    case "curl":
      return `curl -H 'Content-Type: application/json' -H "Authorization: Bearer $TOKEN" \\\n  --data ${shellQuoted(JSON.stringify({ arguments: document, ...(session && { session }) }))} \\\n  ${shellQuoted(`${base}tools/${encodeURIComponent(tool.id)}/calls`)}`;
  }
}

/** One word of a POSIX shell, whatever is in it. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
