"""The TypeScript compilers and their linter, in node, over folders of generated code: `make .peers/ready`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.mcp.servers import NODE
from tests.golden import write

MODULES = Path(__file__).parents[2] / ".peers/node_modules"
_ERROR = re.compile(r"^(?P<file>[^ (]+)\((?P<line>\d+),\d+\): error (?P<text>.*)$", re.MULTILINE)

OPTIONS: dict[str, Any] = {
    "strict": True,
    **dict.fromkeys(
        (
            *("exactOptionalPropertyTypes", "noUncheckedIndexedAccess", "noPropertyAccessFromIndexSignature"),
            *("noImplicitOverride", "noImplicitReturns", "noFallthroughCasesInSwitch"),
            *("noUnusedLocals", "noUnusedParameters"),
            *("verbatimModuleSyntax", "isolatedModules", "erasableSyntaxOnly"),
        ),
        True,
    ),
    "target": "es2022",
    "lib": ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
    "module": "nodenext",
    "types": [],
}
"""The strictest that a project of others may have."""

COMPILERS = ("typescript", "typescript-5", "typescript-7")
"""The packages of the compilers; the first is what the linter and all other tests use."""

_PLAIN: dict[str, Any] = {
    "strict": True,
    "target": "es2022",
    "lib": ["es2022", "dom"],
    "module": "esnext",
    "moduleResolution": "bundler",
    "types": [],
}


_EXACT = {**_PLAIN, "exactOptionalPropertyTypes": True}
_SETTINGS = {
    "strict": _PLAIN,
    "exact": _EXACT,
    "indexed": {**_EXACT, "noUncheckedIndexedAccess": True},
    "strictest": OPTIONS,
}
SETTINGS = (*_SETTINGS, "vite-vanilla", "vite-react")
"""The names of what `settings` returns."""


def settings(name: str) -> dict[str, Any]:
    """Return compiler options that ordinary projects have.

    None of them includes another: with `exactOptionalPropertyTypes` a spread of an optional property
    needs no check for undefined, so what compiles under the strictest options can fail under `strict`.
    """
    return _SETTINGS[name] if name in _SETTINGS else _of_vite(name.removeprefix("vite-"))


def _of_vite(name: str) -> dict[str, Any]:
    """Return the compiler options that `npm create vite` writes for a template."""
    folder = MODULES / f"create-vite/template-{name}-ts"
    files = [folder / each for each in ("tsconfig.app.json", "tsconfig.json") if (folder / each).is_file()]
    text = re.sub(r"/\*.*?\*/", "", files[0].read_text("utf-8"), flags=re.DOTALL)
    options: dict[str, Any] = json.loads(text)["compilerOptions"]
    # `strict` is the default since TypeScript 6. The types of Vite are those of its own modules.
    return {**options, "strict": True, "types": []}


_LINTER = """
import eslint from "@eslint/js";
import { defineConfig } from "eslint/config";
import { configs } from "typescript-eslint";
export default defineConfig(
  eslint.configs.recommended, configs.strictTypeChecked, configs.stylisticTypeChecked,
  { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" } },
);
"""


def project(folder: Path, texts: Mapping[str, str], **options: Any) -> Path:
    """Write the texts to a project for node, and return its folder."""
    require_modules()
    write(folder, texts)
    configure(folder, {**OPTIONS, **options})
    write(folder, {"package.json": '{"type": "module"}', "eslint.config.js": _LINTER})
    (folder / "node_modules").symlink_to(MODULES)
    return folder


def configure(folder: Path, options: Mapping[str, Any]) -> None:
    """Write the compiler options of a project."""
    write(folder, {"tsconfig.json": json.dumps({"compilerOptions": {**options}, "include": ["**/*.ts"]})})


def require_modules() -> None:
    """Skip a test where the packages of others are missing; in CI it fails."""
    if not (MODULES / "typescript").is_dir():
        missing = f"{MODULES / 'typescript'} is missing: make .peers/ready"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)


def refused(folder: Path, compiler: str = COMPILERS[0]) -> dict[tuple[str, int], str]:
    """Compile the project, and return what the compiler says, by file and line."""
    options = [] if "outDir" in (folder / "tsconfig.json").read_text() else ["--noEmit"]
    done = node(folder, MODULES / compiler / "bin/tsc", "--pretty", "false", *options)
    errors = {(each["file"], int(each["line"])): each["text"] for each in _ERROR.finditer(done.stdout)}
    assert bool(errors) == bool(done.returncode), done.stdout + done.stderr
    return errors


def linted(folder: Path, *places: str) -> str:
    """Return what the linter says of files and folders of the project; "" for nothing."""
    done = node(folder, MODULES / "eslint/bin/eslint.js", *places)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def node(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program of node in a folder."""
    return subprocess.run(
        [str(NODE), *map(str, command)], cwd=folder, capture_output=True, text=True, check=False
    )
