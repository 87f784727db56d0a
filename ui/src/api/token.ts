/** The token of this start of the server: it comes behind the `#` of the first address, and goes as a header with every request. */

import { keep, kept } from "../kit/kept";

const GIVEN = /^#token=(.+)$/;
const KEY = "token"; // in the storage of the tab, which no other port of the host can read

let own = kept(KEY);

/** Take the token from the address bar; whether one was there. */
function takeToken(): boolean {
  const given = GIVEN.exec(location.hash)?.[1];
  if (given === undefined) return false;
  history.replaceState(null, "", "#/");
  own = given;
  keep(KEY, given);
  return true;
}

/** The token, "" without one. */
export function token(): string {
  return typeof own === "string" ? own : "";
}

takeToken();
// The address of another start, opened in the same tab.
window.addEventListener("hashchange", () => { if (takeToken()) location.reload(); });
