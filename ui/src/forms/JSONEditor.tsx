/** JSON by CodeMirror, with the issues of the server at their lines. It stands in a shadow tree, so that its styles need no exception of the policy. */

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonLanguage } from "@codemirror/lang-json";
import { bracketMatching, defaultHighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { flushSync } from "react-dom";
import { tokensOf } from "../../../toolgen/templates/typescript/forms";
import type { Issue } from "../api/client";
import { shown } from "../kit/escape";

export default function JSONEditor({ label, text, issues, change, run }: {
  label: string;
  text: string;
  issues: readonly Issue[];
  change: (text: string) => void;
  run: () => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef({ change, run, text });
  useEffect(() => { latest.current = { change, run, text }; });
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root, parent: root, doc: text,
      extensions: [
        keymap.of([{ key: "Mod-Enter", run: () => { latest.current.run(); return true; } }, ...defaultKeymap, ...historyKeymap]),
        lineNumbers(), history(), indentOnInput(), bracketMatching(), syntaxHighlighting(defaultHighlightStyle), lintGutter(), json(), EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.domEventHandlers({ beforeinput: replaceSelected }),
        EditorView.theme({
          "&": { border: "1px solid var(--edge)", borderRadius: "6px", background: "var(--panel)", color: "var(--ink)", fontSize: "12px", maxHeight: "480px" },
          ".cm-gutters": { background: "var(--sunk)", color: "var(--muted)", border: "0" }, ".cm-scroller": { fontFamily: "var(--code)", overflow: "auto" },
          ".cm-activeLine, .cm-activeLineGutter": { background: "transparent" }, ".cm-cursor": { borderLeftColor: "var(--ink)" },
          "&.cm-focused": { outline: "2px solid var(--accent)" },
        }),
        EditorView.updateListener.of((update) => {
          const now = update.state.doc.toString();
          if (update.docChanged && now !== latest.current.text) flushSync(() => { latest.current.change(now); }); // the key that is pressed next sends what stands here
        }),
      ],
    });
    view.current = editor;
    return () => { editor.destroy(); view.current = null; };
    // The editor is made once; what changes afterwards reaches it by the effects below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor !== null && editor.state.doc.toString() !== text) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const found = issues.map((issue): Diagnostic => ({ ...placeOf(editor.state.doc.toString(), issue.pointer), severity: "error", message: shown(issue.message) }));
    editor.dispatch(setDiagnostics(editor.state, found));
  }, [issues]);
  return <div ref={place} className="editor" />;
}

/** Replace what is selected by what is typed. A browser that joins two lines to do it copies the color of the second as an inline style, which the policy forbids. */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty) return false;
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}

/** Where the value at a JSON Pointer stands in a text: of the deepest part of it that is there. */
export function placeOf(text: string, pointer: string): { from: number; to: number } {
  let node = jsonLanguage.parser.parse(text).topNode.firstChild;
  for (const part of tokensOf(pointer)) {
    let next = null;
    if (node?.name === "Object") {
      for (let property = node.firstChild; property !== null; property = property.nextSibling) {
        const name = property.getChild("PropertyName");
        if (name !== null && unquoted(text.slice(name.from, name.to)) === part) next = property.lastChild;
      }
    } else if (node?.name === "Array") {
      const items = [];
      for (let item = node.firstChild; item !== null; item = item.nextSibling) if (!["[", "]", ",", "⚠"].includes(item.name)) items.push(item);
      next = items[Number(part)] ?? null;
    }
    if (next === null) break;
    node = next;
  }
  return node === null ? { from: 0, to: text.length } : { from: node.from, to: node.to };
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}
