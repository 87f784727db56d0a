/** Markdown of tools: HTML in it is text, and DOMPurify leaves nothing but harmless elements of what marked makes. */

import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useMemo } from "react";
import { shown, shownSource } from "../kit/escape";

const marked = new Marked({ gfm: true, renderer: { html: ({ text }) => escaped(text), image: ({ text }) => escaped(text) } });
const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    const href = node.getAttribute("href") ?? "";
    if (/^https?:/i.test(href)) {
      node.setAttribute("rel", "noopener noreferrer");
      node.setAttribute("target", "_blank");
    } else node.removeAttribute("href");
  }
});
const HARMLESS = {
  ALLOWED_TAGS: ["p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "strong", "em", "del", "code", "pre", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "a"],
  ALLOWED_ATTR: ["href", "title", "align", "start"],
};

/** Harmless HTML of Markdown: no image (it would be fetched), no style, no id, links of http and https only, and nothing hides in its texts. */
export function harmless(markdown: string): string {
  const body = purify.sanitize(marked.parse(markdown, { async: false }), { ...HARMLESS, RETURN_DOM: true }) as HTMLElement;
  const texts = document.createNodeIterator(body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) node.nodeValue = shownSource(node.nodeValue ?? "");
  for (const node of body.querySelectorAll("[title]")) node.setAttribute("title", shown(node.getAttribute("title") ?? ""));
  return body.innerHTML;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export default function MarkdownView({ text }: { text: string }) {
  const html = useMemo(() => harmless(text), [text]);
  return <div className="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
