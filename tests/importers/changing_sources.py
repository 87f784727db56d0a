"""Documents of an API and of a tool list whose targets change, and a folder in which they are imported."""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from toolgen.cli import main
from toolgen.dsl import build

from ..conftest import Done

SHOP: Final = "https://shop.example/v1"
KEY: Final = {"k": {"type": "apiKey", "in": "header", "name": "X-K"}}
DESIGN: Final = "shop_design.py"
LOCK: Final = "shop_design.import.json"
_ANSWER: Final = {
    "description": "ok",
    "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}},
}


def operation(name: str, *parameters: tuple[str, str], **more: Any) -> dict[str, Any]:
    """Return an operation with parameters, each a place and a name."""
    listed = [{"name": each, "in": place, "schema": {"type": "string"}} for place, each in parameters]
    return {
        "operationId": name,
        "summary": f"Do {name}.",
        "parameters": listed,
        "responses": {"200": _ANSWER},
        **more,
    }


LIST: Final = ("get", "/list", operation("list"))
PAY: Final = ("post", "/pay", operation("pay", ("query", "amount")))


def flat(text: str) -> str:
    """Return a text with one space for all white space in a row."""
    return re.sub(r"\s+", " ", text)


def api(
    *operations: tuple[str, str, dict[str, Any]],
    server: str | Iterable[str] = SHOP,
    schemes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a document of operations, each with its verb and path."""
    paths: dict[str, Any] = {}
    for verb, path, value in operations:
        paths.setdefault(path, {})[verb] = value
    schemes = KEY if schemes is None else schemes
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": url} for url in ([server] if isinstance(server, str) else server)],
        "security": [{name: []} for name in schemes],
        "components": {"securitySchemes": schemes},
        "paths": paths,
    }


def oauth(token: str) -> dict[str, Any]:
    return {"login": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token, "scopes": {}}}}}


def tool_list(*tools: str | tuple[str, Iterable[str]]) -> dict[str, Any]:
    """Return the tools of an MCP server, each with the names of its arguments."""
    pairs = [(tool, ()) if isinstance(tool, str) else tool for tool in tools]
    return {
        "tools": [
            {
                "name": name,
                "description": f"Do {name}.",
                "inputSchema": {
                    "type": "object",
                    "properties": {each: {"type": "string"} for each in arguments},
                },
            }
            for name, arguments in pairs
        ]
    }


class Shop:
    """A folder with a source and the design that is imported from it, again and again."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def publish(self, document: object) -> None:
        Path("shop.json").write_text(json.dumps(document), "utf-8")

    def run(self, *args: str) -> Done:
        code = main(("import", *args))
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)

    def imported(self, document: object, *options: str) -> None:
        """Import a first version."""
        self.publish(document)
        kind = "openapi" if isinstance(document, dict) and "openapi" in document else "mcp"
        done = self.run(kind, "shop.json", *options)
        assert done.code == 0, done.err

    @property
    def design(self) -> str:
        return Path(DESIGN).read_text("utf-8")

    def forget_names(self) -> None:
        """Let the last import have given no names, so that another part of the source may take one."""
        text = json.dumps({**self.lock, "names": {}})
        Path(LOCK).write_text(text, "utf-8")

    @property
    def lock(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(Path(LOCK).read_text("utf-8"))
        return value

    def edit(self, *pairs: tuple[str, str]) -> None:
        """Replace texts of the design."""
        text = self.design
        for old, new in pairs:
            assert text.count(old) == 1, (old, text)
            text = text.replace(old, new)
        Path(DESIGN).write_text(text, "utf-8")

    def built(self) -> Any:
        evaluation = build(runpy.run_path(DESIGN)["design"])
        assert evaluation.design is not None, evaluation.diagnostics
        return evaluation.design

    def stays_open(self, *places: str) -> Done:
        """Check that an import and a check report these conflicts, however often, and change nothing."""
        state = self.design, self.lock
        for options in ((), ("--check",), ("--allow-losses",), ()):
            done = self.run(*options)
            assert done.code == 1, done.err
            for place in places:
                assert f"toolgen import --resolve {place}" in done.err, done.err
            assert (self.design, self.lock) == state
        assert sorted(self.lock["open"]) == sorted(places)
        return done

    def resolve(self, *places: str) -> None:
        done = self.run(*(part for place in places for part in ("--resolve", place)))
        assert done.code == 0, done.err
        assert self.run("--check").code == 0


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shop:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Shop(capsys)
