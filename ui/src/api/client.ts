/** The generated client, which is the only way to the server; and the catalog as this page reads it. */

import { Surface, type Json } from "../../../toolgen/templates/typescript/surface";
import { received } from "../kit/exact";
import type { JsonObject } from "../kit/values";
import { token } from "./token";

export { Problem } from "../../../toolgen/templates/typescript/surface";
export type { Answered, AnyCall, Artifact, Grant, Issue, MessageFile, Status, Upload, Run, RuntimeEvent, Session, ToolAnswer, Turn, Suspension } from "../../../toolgen/templates/typescript/surface";

/** The page stands at the mount of its surface. */
export const address = location.href.replace(/[?#].*$/, "").replace(/[^/]*$/, "");
export const surface = new Surface({ baseUrl: address, fetch: exactly, token });

async function exactly(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  response.json = async () => received(await response.text());
  return response;
}

export type Schema = JsonObject;
export interface TypedSchema { readonly name: string; readonly schema: Schema; readonly examples?: readonly Json[]; readonly sensitive?: readonly string[]; readonly noted_formats?: readonly string[] }
/** An entry of the catalog (docs/user-interfaces.md). */
export interface Tool {
  readonly id: string;
  readonly name: string;
  readonly service: string;
  readonly toolset: string;
  readonly toolset_title?: string;
  readonly title?: string;
  readonly description?: string;
  readonly kind: "function" | "agent" | "mcp" | "native";
  readonly tags?: readonly string[];
  readonly agent?: string;
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean; readonly idempotentHint?: boolean };
  /** Nobody said whether it destroys something: the hint is a default. */
  readonly assumed_destructive?: boolean;
  readonly payload?: TypedSchema;
  readonly result?: TypedSchema;
  readonly artifacts?: readonly (TypedSchema & { readonly kind: string; readonly view?: string })[];
  readonly errors?: readonly { readonly name: string; readonly description?: string; readonly retryable?: boolean }[];
  readonly confirmation?: { readonly hint?: string; readonly payload?: TypedSchema };
  readonly long_running?: unknown;
  readonly inject?: readonly string[];
  readonly deprecated?: { readonly reason: string; readonly replacement?: string };
  readonly bind_to?: { readonly service: string; readonly method: string };
}
export interface Catalog {
  readonly catalog: { readonly design: string };
  readonly types?: Readonly<Record<string, Schema>>;
  readonly tools: readonly Tool[];
}

/** An agent and the wire names of its tools. */
export interface Agent { readonly id: string; readonly tools: readonly string[] }

export async function catalog(): Promise<Catalog> {
  const document = await surface.catalog();
  return document as unknown as Catalog; // both are the format of catalogs
}
