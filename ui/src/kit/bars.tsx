/** Durations as bars on one scale. */

import { texts } from "../texts";
import { shown } from "./escape";

export function Bars({ rows }: { rows: readonly { readonly name: string; readonly ms: number }[] }) {
  const most = Math.max(...rows.map((row) => row.ms), Number.MIN_VALUE);
  return (
    <div className="bars" role="table" aria-label={texts.results.times}>
      {rows.map((row, index) => (
        <div key={index} role="row" style={{ display: "contents" }}>
          <span role="cell">{shown(row.name)}</span>
          <span role="cell"><span className="bar" style={{ display: "block", width: `${(row.ms / most) * 100}%` }} /></span>
          <span role="cell">{row.ms.toFixed(1)} ms</span>
        </div>
      ))}
    </div>
  );
}
