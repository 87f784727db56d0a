/** An artifact by the view that its author named; what cannot be shown so is JSON with a download. */

import { useEffect, useState } from "react";
import { surface, type Artifact } from "../api/client";
import { wordsOfThrown } from "../api/use";
import { shown, shownLines } from "../kit/escape";
import { later } from "../kit/later";
import { Banner, Skeleton } from "../kit/small";
import { isObject, Tree, ValueTable, type Json } from "../kit/values";
import { texts } from "../texts";
import { ImageView } from "./ImageView";
import { rowsOf } from "./chart";

const ChartView = later(texts.views.chart, () => import("./ChartView"));
const MarkdownView = later(texts.views.text, () => import("./MarkdownView"));
const MOST_BYTES = 5_000_000; // of JSON that is fetched to be drawn

export function ArtifactView({ artifact }: { artifact: Artifact }) {
  return (
    <section className="artifact" aria-label={texts.views.artifact(shown(artifact.kind))}>
      <div className="row">
        <h2 className="grow">{shown(artifact.kind)} <code className="muted">{shown(artifact.media_type)}</code></h2>
        <span className="muted small">{texts.results.bytes(artifact.size)}</span>
        {artifact.uri !== undefined && <Download artifact={artifact} uri={artifact.uri} />}
      </div>
      {artifact.not_stored_reason !== undefined ? <Banner tone="waiting">{shownLines(artifact.not_stored_reason)}</Banner> : <Content artifact={artifact} />}
    </section>
  );
}

const REVOKED_AFTER_MS = 60_000; // by then the browser has begun to save it

/** Saves the data: it is fetched with the token, which no link sends. */
function Download({ artifact, uri }: { artifact: Artifact; uri: string }) {
  const [failed, setFailed] = useState("");
  const save = async () => {
    const answer = await surface.artifacts.fetch(uri);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: artifact.media_type }));
    link.download = artifact.kind;
    link.click();
    window.setTimeout(() => { URL.revokeObjectURL(link.href); }, REVOKED_AFTER_MS);
  };
  const pressed = () => { save().then(() => { setFailed(""); }, (error: unknown) => { setFailed(wordsOfThrown(error)); }); };
  return <>{failed !== "" && <span className="issue">{failed}</span>}<button type="button" onClick={pressed}>{texts.views.download}</button></>;
}

function Content({ artifact }: { artifact: Artifact }) {
  const isImage = artifact.media_type.startsWith("image/");
  const [document, setDocument] = useState<Json | undefined>(artifact.data);
  const [failed, setFailed] = useState("");
  const uri = artifact.uri;
  const isFetched = !isImage && document === undefined && uri !== undefined && artifact.size <= MOST_BYTES;
  useEffect(() => {
    if (!isFetched) return;
    let stale = false;
    surface.artifacts.fetch(uri).then(async (answer) => {
      const text = await answer.text();
      if (!stale) setDocument(artifact.media_type.includes("json") ? (JSON.parse(text) as Json) : text);
    }).catch((error: unknown) => { if (!stale) setFailed(wordsOfThrown(error)); });
    return () => { stale = true; };
  }, [isFetched, uri, artifact.media_type]);
  if (failed !== "") return <Banner tone="bad">{failed}</Banner>;
  if (isImage) return <ImageView artifact={artifact} />;
  if (document === undefined) return isFetched ? <Skeleton what={shown(artifact.kind)} /> : <p className="muted">{texts.views.tooLarge}</p>;
  return <Drawn view={artifact.view ?? ""} document={document} artifact={artifact} />;
}

function Drawn({ view, document, artifact }: { view: string; document: Json; artifact: Artifact }) {
  if (view === "chart.line" || view === "chart.bar") return <ChartView document={document} bars={view === "chart.bar"} />;
  if (view === "table") return <ValueTable value={rowsOf(document).length > 0 ? (rowsOf(document)) : document} />;
  if (view === "markdown") {
    const text = textOf(document);
    if (text !== null) return <MarkdownView text={text} />;
  }
  if (view === "image") return <ImageView artifact={artifact} document={document} />;
  return typeof document === "string" ? <pre>{shownLines(document)}</pre> : <Tree value={document} />;
}

/** The Markdown of a document: itself, or its longest text. */
function textOf(document: Json): string | null {
  if (typeof document === "string") return document;
  const found = isObject(document) ? Object.values(document).filter((value): value is string => typeof value === "string") : [];
  return found.length === 0 ? null : found.reduce((longest, text) => (text.length > longest.length ? text : longest));
}
