/** A list that draws only what is seen: rows of one height, some of which are headings. */

import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";

export const ROW_HEIGHT = 30;
const BEYOND = 8; // rows drawn above and below what is seen

export function List<Row>({ label, rows, selected, draw }: {
  label: string;
  rows: readonly Row[];
  /** Index of the row that has to be seen; -1 for none. */
  selected: number;
  draw: (row: Row) => ReactNode;
}) {
  const box = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 900 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => { setSeen({ top: element.scrollTop, height: element.clientHeight }); };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => { observer.disconnect(); };
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null || selected < 0) return;
    const top = selected * ROW_HEIGHT;
    if (top < element.scrollTop || top + ROW_HEIGHT > element.scrollTop + element.clientHeight) {
      element.scrollTop = Math.max(0, top - element.clientHeight / 2);
    }
  }, [selected]);
  const first = Math.max(0, Math.floor(seen.top / ROW_HEIGHT) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((seen.top + seen.height) / ROW_HEIGHT) + BEYOND);
  return (
    <nav className="list" aria-label={label} ref={box} onScroll={(event) => { setSeen({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight }); }}>
      <div className="list-rows" style={{ height: rows.length * ROW_HEIGHT }}>
        {rows.slice(first, last).map((row, index) => (
          <div className="list-row" key={first + index} style={{ top: (first + index) * ROW_HEIGHT, height: ROW_HEIGHT }}>
            {draw(row)}
          </div>
        ))}
      </div>
    </nav>
  );
}
