/** The address of the page: every place, tab, filter and selected record is in it, after the `#`. */

import { useSyncExternalStore } from "react";

export interface Address {
  readonly place: string;
  readonly parts: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export function parseAddress(hash: string): Address {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [place = "", ...parts] = path.split("/").map(decoded);
  return { place: place || "tools", parts: parts.filter(Boolean), query: Object.fromEntries(new URLSearchParams(search)) };
}

export function addressOf(place: string, parts: readonly string[] = [], query: Readonly<Record<string, string | undefined>> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))).toString();
  return `#/${[place, ...parts].map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

export function go(address: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", address);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = address;
  }
}

export function useAddress(): Address {
  return parseAddress(useSyncExternalStore(listen, () => location.hash));
}

function listen(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => { window.removeEventListener("hashchange", changed); };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
