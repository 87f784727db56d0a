import type { ReactNode } from "react";
import { useId, useRef } from "react";

/** Tabs by the pattern of ARIA: arrows move, one panel is shown. */
export function Tabs<Name extends string>({ label, tabs, shown, show, children }: {
  label: string;
  tabs: readonly (readonly [Name, string])[];
  shown: Name;
  show: (name: Name) => void;
  children: ReactNode;
}) {
  const id = useId();
  const strip = useRef<HTMLDivElement>(null);
  const move = (step: number) => {
    const index = (tabs.findIndex(([name]) => name === shown) + step + tabs.length) % tabs.length;
    const next = tabs[index];
    if (next === undefined) return;
    show(next[0]);
    (strip.current?.children[index] as HTMLElement | undefined)?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={strip}
        onKeyDown={(event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (step !== undefined) { event.preventDefault(); move(step); }
        }}>
        {tabs.map(([name, title]) => (
          <button key={name} type="button" role="tab" id={`${id}-${name}`} aria-controls={`${id}-panel`}
            aria-selected={name === shown} tabIndex={name === shown ? 0 : -1} onClick={() => { show(name); }}>
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown}`} className="tab-panel">{children}</div>
    </>
  );
}
