/** The frame of the page: places at the left, one of them shown; keys, colours, and whether the server answers. */

import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { addressOf, go, useAddress } from "./address";
import { catalogue, Problem, surface } from "./api/client";
import { useLoaded } from "./api/use";
import { useKeys } from "./keys";
import { Banner, Skeleton } from "./kit/small";
import { texts } from "./texts";
import { ToolsPlace } from "./tools/ToolsPlace";

const AgentsPlace = lazy(() => import("./agents/AgentsPlace"));
const WaitsPlace = lazy(() => import("./waits/WaitsPlace"));
const RunsPlace = lazy(() => import("./runs/RunsPlace"));
const MapPlace = lazy(() => import("./map/MapPlace"));

const PLACES = ["tools", "agents", "waits", "runs", "map"] as const;
const KEYS: readonly (readonly [string, string])[] = [
  ["/", "search"], ["g t", "tools"], ["g a", "agents"], ["g w", "waits"], ["g r", "runs"], ["g m", "map"], ["j, k", "next, previous"], ["Ctrl Enter", "call"], ["?", "these keys"],
];
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const EVERY_MS = 5_000;

export function App() {
  const address = useAddress();
  const loaded = useLoaded("catalogue", catalogue);
  const agents = useLoaded("agents", () => surface.agents());
  const waits = useLoaded("waits", () => surface.waits.list(), EVERY_MS);
  const help = useRef<HTMLDialogElement>(null);
  useKeys({
    "?": () => { help.current?.showModal(); },
    ...Object.fromEntries(PLACES.map((place) => [`g ${place[0] ?? ""}`, () => { go(addressOf(place)); }])),
  });
  useEffect(() => { document.title = `${address.parts[0] ?? address.place} · toolgen`; }, [address.parts, address.place]);
  const failed = loaded.error ?? waits.error;
  const waiting = waits.value?.waits.length ?? 0;
  const place = PLACES.find((one) => one === address.place) ?? "tools";
  return (
    <div className="app">
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>("main")?.focus(); }}>Skip to the content</a>
      <nav className="places" aria-label="Places">
        <span className="mark" aria-hidden="true">tg</span>
        {PLACES.map((one) => (
          <a key={one} href={addressOf(one)} aria-current={one === place ? "page" : undefined}>
            {texts.places[one]}
            {one === "waits" && waiting > 0 && <span className="count" aria-label={`${waiting} wait`}>{waiting}</span>}
          </a>
        ))}
        <span className="grow" />
        <Colours />
        <button type="button" className="plain" aria-label={texts.help} onClick={() => { help.current?.showModal(); }}>?</button>
      </nav>
      {failed !== undefined && !(failed instanceof Problem && failed.is("not-kept")) && (
        <div className="over"><Banner tone="bad">{failed instanceof Problem ? (failed.status === 401 ? texts.refusedToken : failed.message) : texts.gone} <button type="button" onClick={() => { loaded.again(); waits.again(); }}>Try again</button></Banner></div>
      )}
      {loaded.value === undefined ? <><aside className="side"><Skeleton what="the catalogue" rows={12} /></aside><main className="main" /></> : (
        <Suspense fallback={<main className="main"><Skeleton what={texts.places[place]} /></main>}>
          {place === "tools" && <ToolsPlace catalogue={loaded.value} address={address} />}
          {place === "agents" && <AgentsPlace agents={agents.value ?? []} catalogue={loaded.value} address={address} />}
          {place === "waits" && <WaitsPlace catalogue={loaded.value} address={address} waits={waits} />}
          {place === "runs" && <RunsPlace address={address} />}
          {place === "map" && <MapPlace agents={agents.value ?? []} catalogue={loaded.value} />}
        </Suspense>
      )}
      <dialog ref={help} aria-label={texts.help}>
        <h2>{texts.help}</h2>
        <table><tbody>{KEYS.map(([key, what]) => <tr key={key}><td><kbd>{key}</kbd></td><td>{what}</td></tr>)}</tbody></table>
        <form method="dialog"><button>Close</button></form>
      </dialog>
    </div>
  );
}

/** Light, dark, or as the system has it. */
function Colours() {
  const [theme, setTheme] = useState<Theme>(() => THEMES.find((one) => one === localStorage.getItem("toolgen theme")) ?? "system");
  useEffect(() => {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const show = () => { document.documentElement.dataset["theme"] = theme === "system" ? (dark.matches ? "dark" : "light") : theme; };
    show();
    localStorage.setItem("toolgen theme", theme);
    dark.addEventListener("change", show);
    return () => { dark.removeEventListener("change", show); };
  }, [theme]);
  return (
    <select className="colours" aria-label={texts.theme.label} value={theme} onChange={(event) => { setTheme(event.target.value as Theme); }}>
      {THEMES.map((one) => <option key={one} value={one}>{texts.theme[one]}</option>)}
    </select>
  );
}
