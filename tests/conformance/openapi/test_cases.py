"""Cases that schemathesis makes of the document of a FastAPI application, called through tools.

What fits the document arrives as the very values; what does not fit is refused before it is sent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Set
from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_schema_validator import OAS31Validator

from tests.conftest import in_a_process
from tests.selection import volume

from .application import application
from .documents import PEERS
from .examples import MISSING, Sample
from .imported import Imported, arguments, generate, loaded

pytestmark = pytest.mark.costly

CASES = volume(6, lab=300)
"""Of each kind for an operation."""


@pytest.mark.volume
async def test_what_fits_arrives_and_what_does_not_is_refused(tmp_path: Path) -> None:
    arrived: list[dict[str, Any]] = []
    app = application(arrived)
    document, source = app.openapi(), tmp_path / "shop.json"
    source.write_text(json.dumps(document), "utf-8")
    cases = made(source)
    generate(tmp_path, source, "imported_shop", "--server", "http://shop.test")
    counted: Counter[tuple[str, str]] = Counter()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport) as http:
        with loaded(tmp_path, "imported_shop", http) as imported:
            judge = Judge(document, imported, arrived)
            for case in cases:
                counted[case["verb"] + " " + case["path"], await judge.outcome(case)] += 1
    outcomes = {outcome for _, outcome in counted}
    assert sorted(outcomes - {"cannot be in a path"}) == ["arrived", "refused"]
    for operation in {operation for operation, _ in counted}:
        assert counted[operation, "arrived"] >= CASES // 2, counted
        assert counted[operation, "refused"] >= CASES // 3, counted


def made(document: Path) -> list[dict[str, Any]]:
    """Return the cases of a document, by schemathesis in an environment of its own."""
    script = Path(__file__).with_name("cases.py")
    done = in_a_process(
        document.parent, str(script), str(document), str(CASES), "1", PYTHONPATH=str(PEERS / "python")
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


class Judge:
    """Calls tools with cases, and says whether what happened is what the document says."""

    def __init__(self, document: dict[str, Any], imported: Imported, arrived: list[dict[str, Any]]) -> None:
        self._document = document
        self._imported = imported
        self._arrived = arrived
        schemas = document["components"]["schemas"].values()
        self._declared = {name for schema in schemas for name in schema.get("properties", {})}

    async def outcome(self, case: dict[str, Any]) -> str:
        described = self._document["paths"][case["path"]][case["verb"].lower()]
        operation = self._imported.operation(case["verb"], case["path"])
        assert operation is not None
        named = {(each["in"], each["name"]): each for each in described.get("parameters", [])}
        values = {key: value for key in named if (value := _held(case, *key)) is not MISSING}
        body = case.get("body", MISSING)
        sample = Sample(dict(values), body)
        self._arrived.clear()
        result = await self._imported.runtime.call(operation.name, arguments(operation, sample))
        said = json.loads(result.json)
        fits = self._fits(described, named, values, body)
        if self._arrived and fits:
            wanted = {name: value for (_, name), value in values.items()}
            wanted |= {} if body is MISSING else {"body": body}
            (got,) = self._arrived
            wrong = {
                key: got.get(key)
                for key, value in wanted.items()
                if not same(value, got.get(key), self._declared)
            }
            return "arrived" if not wrong else f"arrived as {wrong}: {wanted}"
        if not self._arrived and not fits and "issues" in said:
            return "refused"
        if fits and "must not be empty" in said.get("error", ""):
            return "cannot be in a path"
        return f"{'fits' if fits else 'does not fit'}: {case}, {said}, {self._arrived}"

    def _fits(self, described: Any, named: Any, values: dict[tuple[str, str], Any], body: Any) -> bool:
        """Return whether values fit the document; null of what is optional is absence."""
        for key, parameter in named.items():
            value = values.get(key, MISSING)
            if value is MISSING or (value is None and not parameter.get("required")):
                if parameter.get("required"):
                    return False
            elif not self._is_fit(value, parameter["schema"]):
                return False
        if "requestBody" not in described:
            return True
        request = described["requestBody"]
        if body is MISSING:
            return not request.get("required")
        (media,) = request["content"].values()
        return self._is_fit(body, media["schema"])

    def _is_fit(self, value: object, schema: dict[str, Any]) -> bool:
        return bool(OAS31Validator({**schema, "components": self._document["components"]}).is_valid(value))


def _held(case: dict[str, Any], place: str, name: str) -> Any:
    """Return the value of a parameter in a case; schemathesis has texts of headers alone."""
    value = case["parameters"][place].get(name, MISSING)
    if place == "header" and isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value)
    return value


def same(sent: Any, got: Any, declared: Set[str]) -> bool:
    """Return whether a value has arrived; undeclared properties may be gone, null is absence."""
    match sent:
        case None | []:
            return got in (None, [], sent)
        case dict():
            kept = {key: value for key, value in sent.items() if key in declared or key in (got or ())}
            return isinstance(got, dict) and all(
                same(value, got.get(key), declared) for key, value in kept.items()
            )
        case list():
            is_whole = isinstance(got, list) and len(got) == len(sent)
            return is_whole and all(same(*pair, declared) for pair in zip(sent, got, strict=True))
        case _:
            return bool(sent == got and isinstance(sent, bool) == isinstance(got, bool))
