"""The forms of docs/user-interfaces.md, compiled and built, beside the surface of the example."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page, Request, Route, expect

from tests.conformance.compiler import OPTIONS, node
from tests.golden import write
from tests.typescript.test_doc import blocks, home

from .browser import Explorer, bearer

DOC: Final = Path("docs/user-interfaces.md").read_text("utf-8")
MODULES: Final = Path("ui/node_modules").absolute()
PAGES: Final = {"rjsf": "tsx", "jsonforms": "tsx", "html": "ts"}
"""The language of each page's block."""

_MAIN: Final = """
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { toolForm } from "./html.js";
import { ToolForm as JSONFormsForm } from "./jsonforms.js";
import { ToolForm as RJSFForm } from "./rjsf.js";
import type { FormValue } from "./toolgen/forms.js";
import { Surface } from "./toolgen/index.js";

const catalog = await new Surface({ baseUrl: "" }).catalog();

/** Show the form of a tool in a place of its own. */
function show(page: string, id: string, filled: FormValue): void {
  const tool = catalog.tools.find((one) => one.id === id);
  if (tool === undefined) throw new Error(id);
  const place = document.createElement("main");
  document.body.replaceChildren(place);
  if (page === "html") toolForm(place, tool, catalog, filled);
  else {
    const Form = page === "rjsf" ? RJSFForm : JSONFormsForm;
    createRoot(place).render(createElement(Form, { tool, catalog, filled }));
  }
}
Object.assign(window, { show });
"""
_BUILD: Final = """
export default {
  logLevel: "error",
  build: { outDir: "made", minify: false, modulePreload: false, target: "es2023",
    rolldownOptions: { input: "main.tsx", output: { entryFileNames: "main.js" } } },
};
"""


def built(folder: Path) -> Path:
    """Compile the pages of the document as strictly as anybody's, build them, and return the script."""
    write(folder, {f"toolgen/{path}": text for path, text in home().items()})
    shown = {f"{name}.{kind}": blocks(f'{kind} title="{name}"', DOC)[0] for name, kind in PAGES.items()}
    write(folder, shown)
    write(folder, {"first.ts": blocks('ts title="forms"', DOC)[0]})
    options = {"jsx": "react-jsx", "module": "esnext", "moduleResolution": "bundler", "skipLibCheck": True}
    settings = {"compilerOptions": {**OPTIONS, **options, "noEmit": True}, "include": ["**/*"]}
    files = {"main.tsx": _MAIN, "package.json": '{"type": "module"}', "vite.config.js": _BUILD}
    write(folder, {**files, "tsconfig.json": json.dumps(settings)})
    (folder / "node_modules").symlink_to(MODULES)
    for program in ("typescript/bin/tsc", "vite/bin/vite.js"):
        done = node(folder, MODULES / program, *(["build"] if "vite" in program else []))
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "made/main.js"


@dataclass
class FormPage:
    """One of the pages in the origin of a surface."""

    page: Page
    name: str
    sent: list[Any] = field(default_factory=list)
    """The arguments that the form has sent since it was shown."""

    async def show(self, tool: str, filled: Any) -> None:
        """Show the form of a tool, filled with a document."""
        self.sent.clear()
        await self.page.evaluate("given => show(...given)", [self.name, tool, filled])

    async def submit(self) -> str:
        """Press the button, and return what the page says then."""
        await self.page.get_by_role("button", name="Submit").click()
        said = self.page.locator("output")
        await expect(said).not_to_be_empty()
        return await said.inner_text()


async def opened(shown: Explorer, script: Path, name: str) -> FormPage:
    """Open one of the pages in the origin of a surface."""
    form = FormPage(shown.page, name)

    async def document(route: Route) -> None:
        text = '<!doctype html><meta charset="utf-8"><script type="module" src="form.js"></script>'
        await route.fulfill(body=text, content_type="text/html")

    def note(request: Request) -> None:
        if request.method == "POST":
            form.sent.append((request.post_data_json or {})["arguments"])

    await shown.page.set_extra_http_headers(bearer(shown.token))  # as the login of the page's host would
    await shown.page.route("**/form", document)
    await shown.page.route("**/form.js", lambda route: route.fulfill(path=script))
    await shown.page.goto(f"{shown.url}/form")
    await shown.page.wait_for_function("() => 'show' in window")
    shown.page.on("request", note)
    return form
