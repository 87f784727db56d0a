/** Approvals that count for further calls of a session: who gave them, for what, and how often they were used; each can be revoked. */

import { useState } from "react";
import { surface, type Grant } from "../api/client";
import { useLoaded, wordsOfThrown } from "../api/use";
import { shown } from "../kit/escape";
import { Banner } from "../kit/small";
import { until, useNow } from "../kit/time";
import { texts } from "../texts";

const EVERY_MS = 5_000;

export function Grants({ session = "" }: { session?: string | undefined }) {
  const grants = useLoaded(`grants ${session}`, async (): Promise<readonly Grant[]> => (session === "" ? [] : surface.sessions.grants(session)), EVERY_MS);
  const [failed, setFailed] = useState("");
  const now = useNow();
  const revoke = (id: string) => {
    surface.sessions.revoke(session, id).then(() => { setFailed(""); grants.again(); }).catch((error: unknown) => { setFailed(wordsOfThrown(error)); });
  };
  if ((grants.value ?? []).length === 0) return null;
  return (
    <section className="panel" aria-label={texts.grant.title}>
      <h2>{texts.grant.title}</h2>
      {failed !== "" && <Banner tone="bad">{failed}</Banner>}
      <table>
        <thead><tr>{texts.grant.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>{(grants.value ?? []).map((grant) => (
          <tr key={grant.id}>
            <td><code>{shown(grant.tool)}</code></td>
            <td>{shown(grant.covers)}</td>
            <td>{texts.grant.by(shown(grant.granted_by), new Date(grant.granted_at * 1000).toLocaleString())}</td>
            <td>{texts.grant.uses(grant.used, grant.uses)}</td>
            <td>{until(grant.expires_at, now)}</td>
            <td><button type="button" className="danger" onClick={() => { revoke(grant.id); }}>{texts.grant.revoke}</button></td>
          </tr>
        ))}</tbody>
      </table>
    </section>
  );
}
