/** Parts of the page that are fetched when they are first needed, and errors that stay in the part where they happen. */

import { Component, useEffect, useState, type ComponentType, type ReactNode } from "react";
import { texts } from "../texts";
import { shown as escaped } from "./escape";
import { Banner, Skeleton } from "./small";

const AGAIN_MS = 3_000;

/** A component whose code is fetched; a server that is gone is asked again, and the page around it stays. Until then `around` has what is shown. */
export function later<Props extends object>(
  what: string, fetchCode: () => Promise<{ default: ComponentType<Props> }>, around: (shown: ReactNode) => ReactNode = (shown) => shown,
): ComponentType<Props> {
  let fetched: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [state, setState] = useState<"fetching" | "failed" | "fetched">("fetching");
    const [round, setRound] = useState(0);
    useEffect(() => {
      let stale = false;
      let timer = 0;
      if (fetched === undefined) {
        fetchCode().then(
          (code) => { fetched = code.default; if (!stale) setState("fetched"); },
          () => { if (!stale) { setState("failed"); timer = window.setTimeout(() => { setRound(round + 1); }, AGAIN_MS); } },
        );
      }
      return () => { stale = true; window.clearTimeout(timer); };
    }, [round]);
    if (fetched !== undefined) {
      const Fetched = fetched;
      return <Fetched {...props} />;
    }
    return around(state !== "failed" ? <Skeleton what={what} /> : <Banner tone="bad">{texts.notFetched(what)}</Banner>);
  };
}

interface BoundaryProps { readonly at: string; readonly children: ReactNode }

/** What cannot be drawn says so in its own place, and is drawn again `at` another address. */
export class Boundary extends Component<BoundaryProps, { failed: string | null }> {
  override state: { failed: string | null } = { failed: null };

  static getDerivedStateFromError(error: unknown): { failed: string } {
    return { failed: error instanceof Error ? error.message : String(error) };
  }

  override componentDidUpdate(before: BoundaryProps): void {
    if (before.at !== this.props.at && this.state.failed !== null) this.setState({ failed: null });
  }

  override render(): ReactNode {
    return this.state.failed === null ? this.props.children : <Banner tone="bad">{texts.notDrawn(escaped(this.state.failed))}</Banner>;
  }
}
