// What a page shows in its forms, and what it posts: a part of test_sent.py, with ui/src/testing/displayed.ts in it.
(() => {
  SCRIPT;
  const text = new Set(["session", "message"]);
  const inEditor = (editor) => [...editor.shadowRoot.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n");
  const asArguments = (source) => {
    const one = json(source);
    const is = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !("#" in value);
    return one !== "wrong" && is(one.value) ? one : "wrong";
  };
  window.formsSeen = () => {
    const fields = [...document.querySelectorAll("main .field")].filter((one) => one.parentElement.closest(".field") === null);
    const seen = fields.map((field) => {
      const id = field.dataset.id;
      const isText = text.has(id) || id.endsWith("-reason") || field.querySelector(".label")?.textContent.startsWith("Why");
      const one = displayed(field);
      return [id, isText && one !== "wrong" && one.value !== undefined && typeof one.value !== "string" ? "wrong" : one];
    });
    for (const editor of document.querySelectorAll("main .editor")) seen.push(["arguments", asArguments(inEditor(editor))]);
    return seen.map(([id, one]) => [id, one === "wrong" ? one : "value" in one && one.value !== undefined ? { value: one.value } : {}]);
  };
  window.exactly = exact;
  window.posted = [];
  const sent = window.fetch;
  const pending = new Set();
  window.allAnswered = async () => { while (pending.size > 0) await Promise.allSettled(pending); };
  window.fetch = (address, options) => {
    const answer = sent(address, options);
    if (options?.method !== "POST") return answer;
    window.posted.push([String(address), options.body]);
    pending.add(answer);
    void answer.finally(() => { pending.delete(answer); }).catch(() => undefined);
    return answer;
  };
})();
