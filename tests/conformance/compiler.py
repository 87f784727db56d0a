"""The TypeScript compiler and its linter, in node, over folders of generated code: `make .peers/ready`."""

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
    if not (MODULES / "typescript").is_dir():
        missing = f"{MODULES / 'typescript'} is missing: make .peers/ready"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    write(folder, texts)
    settings = {"compilerOptions": {**OPTIONS, **options}, "include": ["**/*.ts"]}
    write(
        folder,
        {
            "package.json": '{"type": "module"}',
            "tsconfig.json": json.dumps(settings),
            "eslint.config.js": _LINTER,
        },
    )
    (folder / "node_modules").symlink_to(MODULES)
    return folder


def refused(folder: Path) -> dict[tuple[str, int], str]:
    """Compile the project, and return what the compiler says, by file and line."""
    options = [] if "outDir" in (folder / "tsconfig.json").read_text() else ["--noEmit"]
    done = node(folder, MODULES / "typescript/bin/tsc", "--pretty", "false", *options)
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
