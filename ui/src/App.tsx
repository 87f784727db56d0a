/** The frame of the page: places at the left, one of them shown; keys, colours, and whether the server answers. */

import { useEffect, useRef, useState, type ReactNode } from "react";
import { addressOf, go, useAddress } from "./address";
import { catalog, Problem, surface, type Run } from "./api/client";
import { useLoaded, usePages, wordsOf } from "./api/use";
import { useKeys } from "./keys";
import { shown } from "./kit/escape";
import { Boundary, later } from "./kit/later";
import { Banner, Skeleton } from "./kit/small";
import { texts } from "./texts";
import { ToolsPlace } from "./tools/ToolsPlace";

const inMain = (drawn: ReactNode) => <main id="main" className="main wide">{drawn}</main>;
const AgentsPlace = later(texts.places.agents, () => import("./agents/AgentsPlace"), inMain);
const SuspensionsPlace = later(texts.places.suspensions, () => import("./suspensions/SuspensionsPlace"), inMain);
const RunsPlace = later(texts.places.runs, () => import("./runs/RunsPlace"), inMain);
const MapPlace = later(texts.places.map, () => import("./map/MapPlace"), inMain);

const PLACES = ["tools", "agents", "suspensions", "runs", "map"] as const;
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const EVERY_MS = 5_000;
/** How many runs are looked through at once for calls of unknown outcome. */
const LOOKED_THROUGH = 100;

export function App() {
  const address = useAddress();
  const place = PLACES.find((one) => one === address.place) ?? "tools";
  const loaded = useLoaded("catalog", catalog);
  const agents = useLoaded("agents", () => surface.agents());
  const suspensions = useLoaded("suspensions", () => surface.suspensions.list(), EVERY_MS);
  const lost = usePages<Run>("unknown", async (after) => {
    const { runs: items, next } = await surface.runs.list({ after, status: "unknown", limit: LOOKED_THROUGH });
    return { items, next };
  }, EVERY_MS);
  const help = useRef<HTMLDialogElement>(null);
  useKeys({
    "?": () => { help.current?.showModal(); },
    ...Object.fromEntries(PLACES.map((place) => [`g ${place[0] ?? ""}`, () => { go(addressOf(place)); }])),
  });
  useKeys(place === "tools" ? {} : { j: () => { step(1); }, k: () => { step(-1); }, "/": searchTools });
  useEffect(() => { document.title = `${shown(address.parts[0] ?? address.place)} · toolgen`; }, [address.parts, address.place]);
  const failed = loaded.error ?? suspensions.error;
  const waiting = (suspensions.value?.suspensions.length ?? 0) + (lost.value?.length ?? 0);
  return (
    <div className="app">
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>("main")?.focus(); }}>{texts.frame.skip}</a>
      <nav className="places" aria-label={texts.frame.places}>
        <span className="mark" aria-hidden="true">tg</span>
        {PLACES.map((one) => (
          <a key={one} href={addressOf(one)} aria-current={one === place ? "page" : undefined}>
            {texts.places[one]}
            {one === "suspensions" && waiting > 0 && <span className="count" aria-label={texts.frame.waiting(waiting)}>{waiting}</span>}
          </a>
        ))}
        <span className="grow" />
        <Colours />
        <button type="button" className="plain" aria-label={texts.help} onClick={() => { help.current?.showModal(); }}>?</button>
      </nav>
      {failed !== undefined && !(failed instanceof Problem && failed.is("not-implemented")) && (
        <div className="over"><Banner tone="bad">{wordsOf(failed)} <button type="button" onClick={() => { loaded.again(); suspensions.again(); }}>{texts.frame.again}</button></Banner></div>
      )}
      {loaded.value === undefined ? <><aside className="side"><Skeleton what={texts.frame.catalog} rows={12} /></aside><main id="main" className="main" /></> : (
        <Boundary at={location.hash}>
          {place === "tools" && <ToolsPlace catalog={loaded.value} address={address} />}
          {place === "agents" && <AgentsPlace agents={agents.value ?? []} catalog={loaded.value} address={address} suspensions={suspensions.value?.suspensions ?? []} lost={lost.value ?? []} />}
          {place === "suspensions" && <SuspensionsPlace catalog={loaded.value} address={address} suspensions={suspensions} lost={lost} newest={LOOKED_THROUGH * lost.pages} />}
          {place === "runs" && <RunsPlace catalog={loaded.value} address={address} />}
          {place === "map" && <MapPlace agents={agents.value ?? []} catalog={loaded.value} />}
        </Boundary>
      )}
      <dialog ref={help} aria-label={texts.help}>
        <h2>{texts.help}</h2>
        <table><tbody>{texts.keys.map(([key, what]) => <tr key={key}><td><kbd>{key}</kbd></td><td>{what}</td></tr>)}</tbody></table>
        <form method="dialog"><button>{texts.frame.close}</button></form>
      </dialog>
    </div>
  );
}

/** Follow the link beside the current one, of those that a place lists. */
function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".side .list a, main td:first-child > a")];
  const at = links.findIndex((link) => link.closest("[aria-current]") !== null);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.click();
}

/** Show the tools, and the field that searches them. */
function searchTools(): void {
  window.addEventListener("hashchange", () => { requestAnimationFrame(() => { document.querySelector<HTMLElement>("[type=search]")?.focus(); }); }, { once: true });
  go(addressOf("tools"));
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
