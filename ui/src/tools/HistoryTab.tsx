import { addressOf } from "../address";
import type { Tool } from "../api/client";
import { OutcomeTag } from "../results/ResultPanel";
import { historyOf } from "./history";
import { compact } from "../kit/values";
import { texts } from "../texts";

/** Calls of this tool from this tab of the browser, newest first. */
export function HistoryTab({ tool }: { tool: Tool }) {
  const made = historyOf(tool.id);
  if (made.length === 0) return <p className="muted">{texts.history.none}</p>;
  return (
    <table>
      <thead><tr>{texts.history.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
      <tbody>{made.map((one) => (
        <tr key={`${one.at} ${one.call.id}`}>
          <td><a href={addressOf("tools", [tool.id], { tab: "call", call: one.call.id })}>{new Date(one.at).toLocaleTimeString()}</a></td><td><OutcomeTag outcome={one.call.status} /></td>
          <td className="number">{Math.round(one.tookMs)}</td><td><code>{compact(one.arguments)}</code></td>
        </tr>
      ))}</tbody>
    </table>
  );
}
