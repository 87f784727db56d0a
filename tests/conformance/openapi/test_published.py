"""Documents that others publish become tools whole, and the answers that they show reach the model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conformance.compiler import refused
from tests.conftest import in_a_process
from tests.selection import first
from toolgen.clients import Operation
from toolgen.importers.codes import LEFT_OUT

from .documents import PUBLISHED, document, in_version_3, operations, source
from .examples import MISSING, Answer, Examples, NoExampleError
from .imported import Imported, arguments, generate, loaded, media_of
from .judge import Judge

ROOT = Path(__file__).parents[3]
LOSSES = {
    "stripe": ("schemas that clauses cannot express have too many references; ",),
}
"""The reasons of what the designs lack, by document. Each tool is there."""
TYPED = {
    "figma": 17,
    "notion": 5,
    "qdrant": 66,
    "slack": 140,
    "spotify": 66,
    "stripe": 4,
    "twilio_verify": 55,
}
"""The fewest tools whose example is read as their type says. The others are read with warnings, because the
example does not fit the schema of its own document, or the document has no example."""
SHORTENED = {"slack": ("chat_post_message", "conversations_replies", "files_info", "files_list")}
"""Tools whose example has properties that their schema lacks: they are dropped (docs/services.md)."""
UNDESCRIBED = "read without properties that are not described"
STRICT = {
    **dict.fromkeys(("strict", "noEmit"), True),
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "lib": ["es2022", "dom", "dom.iterable"],
    "types": [],
}
"""The settings of a project that is strict, and nothing more."""


class Server:
    """Answers each request with the answer that is set."""

    def __init__(self) -> None:
        self.answer = Answer(200)
        self.requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        self.requests += 1
        media = [(b"content-type", self.answer.media.encode())] if self.answer.media else []
        await send({"type": "http.response.start", "status": self.answer.status, "headers": media})
        await send({"type": "http.response.body", "body": self.answer.body})


@dataclass(frozen=True)
class Package:
    """What is generated for a document."""

    name: str
    folder: Path
    findings: list[dict[str, Any]]


@pytest.fixture(scope="module", params=first(PUBLISHED, 0))
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Package:
    """Import a document, and generate its package."""
    name: str = request.param
    folder = tmp_path_factory.mktemp(name)
    file = folder / PUBLISHED[name].stem
    file.write_text(source(name), "utf-8")
    findings = generate(folder, file, f"published_{name}", "--server", "https://api.example")
    return Package(name, folder, findings)


def test_a_document_becomes_tools_whole(package: Package) -> None:
    described = [*operations(in_version_3(document(package.name)))]
    catalog = (package.folder / f"published_{package.name}/tool_schemas.json").read_text("utf-8")
    losses = [
        each for each in package.findings if each["severity"] == "error" or each["code"] == LEFT_OUT.name
    ]
    known = LOSSES.get(package.name, ())
    assert [each for each in losses if not each["message"].startswith(known)] == []
    assert len(json.loads(catalog)["tools"]) == len(described)


async def test_examples_of_answers_reach_the_model(package: Package) -> None:
    server, whole = Server(), in_version_3(document(package.name))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as http:
        with loaded(package.folder, f"published_{package.name}", http) as imported:
            counted = await Reader(whole, imported, server).read()
    print(package.name, counted)
    shortened = {f"{name}: {UNDESCRIBED}" for name in SHORTENED.get(package.name, ())}
    assert counted.keys() - {"typed", "with warnings", "no example"} == shortened, counted
    assert counted["typed"] >= TYPED[package.name], counted


@pytest.mark.costly
def test_generated_code_is_typed(package: Package) -> None:
    settings = {"include": [f"published_{package.name}"], "extraPaths": [str(ROOT)], "strict": ["**"]}
    (package.folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    done = in_a_process(package.folder, "-m", "pyright", "--project", "pyrightconfig.json")
    assert done.returncode == 0, done.stdout[-3_000:]


@pytest.mark.costly
def test_generated_typescript_is_strict(package: Package) -> None:
    done = in_a_process(package.folder, "-m", "toolgen", "gen", "--typescript", "web")
    assert done.returncode == 0, done.stderr
    settings = {"compilerOptions": STRICT, "include": ["web/**/*.ts"]}
    (package.folder / "tsconfig.json").write_text(json.dumps(settings), "utf-8")
    assert refused(package.folder) == {}


def leaves(value: Any) -> set[str]:
    """Return the texts, numbers and truths in a value; null may be absence."""
    if isinstance(value, dict):
        return set[str]().union(*map(leaves, value.values()))
    if isinstance(value, list):
        return set[str]().union(*map(leaves, value))
    return set() if value in (None, MISSING) else {json.dumps(value)}


class Reader:
    """Calls each operation of a document, and reads the example of its answer."""

    def __init__(self, whole: dict[str, Any], imported: Imported, server: Server) -> None:
        self._whole = whole
        self._imported = imported
        self._server = server
        self._examples = Examples(whole)
        self._judge = Judge(whole)

    async def read(self) -> Counter[str]:
        """Call them all, and return how many went how; what is wrong is in the text."""
        counted: Counter[str] = Counter()
        for verb, path, described, of_path in operations(self._whole):
            counted[await self._outcome(verb, path, described, of_path)] += 1
        return counted

    async def _outcome(self, verb: str, path: str, described: dict[str, Any], of_path: list[Any]) -> str:
        operation = self._imported.operation(verb, path)
        answer = self._examples.answer(described)
        if operation is None:
            return f"no operation: {verb} {path}"
        if answer is None:
            return "no example"
        self._server.answer, self._server.requests = answer, 0
        said = ""
        for values in self._tried(operation, described, of_path):
            result = await self._imported.call(operation, values)
            said = result.json.decode()
            if self._server.requests and result.status == "ok":
                if result.warnings and self._fits(answer, described):
                    return f"{operation.name} warns of an example that fits: {result.warnings[:2]}"
                if not leaves(answer.value) <= leaves(json.loads(said)):
                    return f"{operation.name}: {UNDESCRIBED}"
                return "with warnings" if result.warnings else "typed"
            if self._server.requests:
                return f"{operation.name}: {said[:300]}"
        return f"{operation.name} was not called: {said[:300]}"

    def _fits(self, answer: Answer, described: dict[str, Any]) -> bool:
        schema = self._examples.schema_of_answer(described, answer.status, answer.media)
        return schema is not None and self._judge.fits(answer.value, schema)

    def _tried(
        self, operation: Operation[Any, Any], described: dict[str, Any], of_path: list[Any]
    ) -> Iterator[dict[str, Any]]:
        """Yield arguments for a call: those of the examples, and if there are none, drawn ones."""
        media = media_of(operation, described, self._examples)
        with suppress(NoExampleError):
            yield arguments(operation, self._examples.sample(described, of_path, media))
        yield from self._imported.drawn(operation, 3)
