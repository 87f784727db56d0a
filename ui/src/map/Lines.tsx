/** Lines between the boxes of a picture, where its columns stand side by side; hidden from screen readers, for the boxes say the same. */

import { useEffect, useState, type RefObject } from "react";

export interface Link { readonly from: string; readonly to: string; readonly kind: "uses" | "answers" | "bound" }

interface Drawn extends Link { readonly d: string }

/** Pixels from the top of a box to the line of its name. */
const NAME = 22;

export function Lines({ links, frame, lit }: { links: readonly Link[]; frame: RefObject<HTMLElement | null>; lit: string }) {
  const [drawn, setDrawn] = useState<readonly Drawn[]>([]);
  const key = JSON.stringify(links);
  useEffect(() => {
    const root = frame.current;
    if (root === null) return;
    const draw = () => {
      const origin = root.getBoundingClientRect();
      const boxes = new Map([...root.querySelectorAll<HTMLElement>("[data-node]")].map((box) => [box.dataset["node"], box.getBoundingClientRect()]));
      setDrawn((JSON.parse(key) as Link[]).flatMap((link) => {
        const [from, to] = [boxes.get(link.from), boxes.get(link.to)];
        if (from === undefined || to === undefined || to.left <= from.right) return [];
        const [x, y, across, down] = [from.right - origin.left, from.top - origin.top + NAME, to.left - origin.left, to.top - origin.top + NAME];
        const middle = (x + across) / 2;
        return [{ ...link, d: `M${x} ${y}C${middle} ${y} ${middle} ${down} ${across} ${down}` }];
      }));
    };
    draw();
    const resized = new ResizeObserver(draw);
    resized.observe(root);
    return () => { resized.disconnect(); };
  }, [key, frame]);
  return (
    <svg className="links" aria-hidden="true">
      <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" /></marker></defs>
      {drawn.map((link) => <path key={`${link.kind} ${link.from} ${link.to}`} className={`${link.kind} ${link.from === lit || link.to === lit ? "lit" : ""}`} d={link.d} markerEnd="url(#arrow)" />)}
    </svg>
  );
}
