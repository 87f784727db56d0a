/** Schemas as tables: a row a property, nested ones opened in place. */

import { useState, type ReactNode } from "react";
import { alone, branchesOf, resolved } from "../../../toolgen/templates/typescript/forms";
import type { Catalog, Schema, Tool, TypedSchema } from "../api/client";
import { branchTitle, limitWords, text, typeWords } from "../forms/schema";
import { shown, shownLines } from "../kit/escape";
import { Tag } from "../kit/small";
import { compact, isObject, pretty, type Json, type JsonObject } from "../kit/values";
import { texts } from "../texts";

export function SchemaTab({ tool, catalog }: { tool: Tool; catalog: Catalog }) {
  const parts: [string, TypedSchema | undefined][] = [
    [texts.schema.payload, tool.payload], [texts.schema.result, tool.result],
    ...(tool.artifacts ?? []).map((artifact): [string, TypedSchema] => [`${texts.schema.artifact} ${shown(artifact.kind)}${artifact.view === undefined ? "" : ` as ${shown(artifact.view)}`}`, artifact]),
    [texts.schema.answer, tool.confirmation?.payload],
  ];
  return (
    <>
      {parts.map(([title, part]) => part !== undefined && <Part key={title} title={title} part={part} catalog={catalog} />)}
      {(tool.inject ?? []).length > 0 && <section className="panel"><h2>{texts.schema.injected}</h2><p><code>{tool.inject?.map(shown).join(", ")}</code> <span className="muted">{texts.schema.modelNever}</span></p></section>}
      {(tool.errors ?? []).length > 0 && <section className="panel"><h2>{texts.schema.errors}</h2><table><tbody>{tool.errors?.map((error) => <tr key={error.name}><th scope="row">{shown(error.name)}</th><td>{shownLines(error.description ?? "")}</td><td>{error.retryable === true && <Tag>{texts.schema.later}</Tag>}</td></tr>)}</tbody></table></section>}
    </>
  );
}

function Part({ title, part, catalog }: { title: string; part: TypedSchema; catalog: Catalog }) {
  const [raw, setRaw] = useState(false);
  const root = alone(part.schema, catalog.types ?? {});
  return (
    <section className="panel" aria-label={title}>
      <div className="row"><h2 className="grow">{title} <code className="muted">{shown(part.name)}</code></h2><button type="button" onClick={() => { setRaw(!raw); }}>{raw ? "Table" : "JSON Schema"}</button></div>
      {raw ? <pre>{pretty(part.schema)}</pre> : <Properties schema={root} root={root} />}
    </section>
  );
}

function Properties({ schema, root }: { schema: Schema; root: JsonObject }) {
  const own = resolved(schema, root);
  const union = branchesOf(own, root);
  if (union.length > 0) return <>{union.map((branch, index) => <section key={index}><h3>{shown(branchTitle(branch, index))}</h3><Properties schema={branch} root={root} /></section>)}</>;
  const properties = own["properties"];
  const required = Array.isArray(own["required"]) ? own["required"] : [];
  const others = own["additionalProperties"];
  const rows = isObject(properties) ? Object.entries(properties).map(([name, property]): [string, Schema] => [name, isObject(property) ? property : {}]) : [];
  if (rows.length === 0 && !isObject(others)) return <p className="muted">{isObject(properties) || own["type"] === "object" ? "nothing" : shown(typeWords(own, root))}</p>;
  return (
    <table><tbody>
      {rows.map(([name, property]) => <Property key={name} name={<code>{shown(name)}</code>} schema={property} root={root} isRequired={required.includes(name)} />)}
      {isObject(others) && <Property name={texts.schema.others} schema={others} root={root} isRequired={false} />}
    </tbody></table>
  );
}

function Property({ name, schema, root, isRequired }: { name: ReactNode; schema: Schema; root: JsonObject; isRequired: boolean }) {
  const [open, setOpen] = useState(false);
  const own = resolved(schema, root);
  const inner = innerOf(own, root);
  const values = Array.isArray(own["enum"]) ? (own["enum"] as readonly Json[]) : [];
  const meanings = own["x-meanings"];
  return (
    <tr>
      <th scope="row">{name}{isRequired && <div className="small muted">{texts.schema.required}</div>}</th>
      <td>
        <div>{shown(typeWords(schema, root))} {limitWords(own).map((limit) => <Tag key={limit}>{shown(limit)}</Tag>)} {own["default"] !== undefined && <Tag>{texts.schema.without(compact(own["default"]))}</Tag>} {own["deprecated"] === true && <Tag tone="bad">{texts.behaviour.deprecated}</Tag>}</div>
        {typeof own["description"] === "string" && <div className="muted">{shownLines(own["description"])}</div>}
        {values.length > 0 && <div className="row small">{values.map((value, index) => <span key={index}><code>{compact(value)}</code>{meaning(meanings, value, index)}</span>)}</div>}
        {inner !== null && <button type="button" className="plain small" aria-expanded={open} onClick={() => { setOpen(!open); }}>{open ? texts.schema.close : texts.schema.open}</button>}
        {inner !== null && open && <Properties schema={inner} root={root} />}
      </td>
    </tr>
  );
}

function meaning(meanings: Json | undefined, value: Json, index: number): string {
  const found = Array.isArray(meanings) ? (meanings[index] as Json | undefined) : isObject(meanings) ? meanings[text(value)] : undefined;
  return typeof found === "string" && found !== "" ? ` ${shown(found)}` : "";
}

/** What may be opened: an object with properties, a union of objects, or the items of a list of those. */
function innerOf(schema: Schema, root: JsonObject): Schema | null {
  if (schema["type"] === "array") return isObject(schema["items"]) ? innerOf(resolved(schema["items"], root), root) : null;
  if (isObject(schema["properties"]) || isObject(schema["additionalProperties"])) return schema;
  return branchesOf(schema, root).some((branch) => isObject(branch["properties"])) ? schema : null;
}
