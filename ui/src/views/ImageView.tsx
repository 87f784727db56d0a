/** A picture of a tool: as a blob of a type that browsers draw, so that no markup in it is executed and nothing is fetched. */

import { useEffect, useState } from "react";
import { surface, type Artifact } from "../api/client";
import { wordsOfThrown } from "../api/use";
import { shown } from "../kit/escape";
import { Banner } from "../kit/small";
import { isObject, type Json } from "../kit/values";
import { texts } from "../texts";

const DRAWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/svg+xml"]);
const DATA = /^data:(image\/[a-z+.-]+);base64,([A-Za-z0-9+/=\s]+)$/;

/** The bytes of a picture in a document: a data URI, or base64 beside a media type. */
export function pictureOf(document: Json | undefined): Blob | null {
  if (typeof document === "string") {
    const parts = DATA.exec(document);
    return parts === null ? null : blobOf(parts[1] ?? "", parts[2] ?? "");
  }
  if (!isObject(document)) return null;
  const type = Object.values(document).find((value): value is string => typeof value === "string" && DRAWN.has(value));
  for (const value of Object.values(document)) {
    if (typeof value !== "string") continue;
    const found = DATA.test(value) ? pictureOf(value) : type !== undefined && value !== type && /^[A-Za-z0-9+/]{16,}=*$/.test(value) ? blobOf(type, value) : null;
    if (found !== null) return found;
  }
  return null;
}

function blobOf(type: string, base64: string): Blob | null {
  if (!DRAWN.has(type)) return null;
  try {
    return new Blob([Uint8Array.from(atob(base64.replace(/\s/g, "")), (character) => character.charCodeAt(0))], { type });
  } catch {
    return null;
  }
}

export function ImageView({ artifact, document }: { artifact: Artifact; document?: Json }) {
  const [address, setAddress] = useState("");
  const [failed, setFailed] = useState("");
  useEffect(() => {
    let made = "";
    let stale = false;
    const show = (blob: Blob | null) => {
      if (stale) return;
      if (blob === null || !DRAWN.has(blob.type)) setFailed(texts.views.noPicture);
      else setAddress((made = URL.createObjectURL(blob)));
    };
    const inline = pictureOf(document ?? artifact.data);
    if (inline !== null || artifact.uri === undefined) show(inline);
    else {
      surface.artifacts.fetch(artifact.uri).then(async (answer) => { show(new Blob([await answer.arrayBuffer()], { type: artifact.media_type })); })
        .catch((error: unknown) => { if (!stale) setFailed(wordsOfThrown(error)); });
    }
    return () => { stale = true; if (made !== "") URL.revokeObjectURL(made); };
  }, [artifact, document]);
  if (failed !== "") return <Banner tone="bad">{failed}</Banner>;
  return address === "" ? null : <img className="view" src={address} alt={shown(artifact.kind)} />;
}
