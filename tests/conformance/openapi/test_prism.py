"""Operations of large documents, called at a mock server: Prism says that the requests fit the documents."""

from __future__ import annotations

import base64
import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.selection import first, volume
from toolgen.clients import HTTP, Body, Operation

from .documents import DOCUMENTS, answering_examples, cut, document, in_version_3, mocked, operations
from .examples import MISSING, Examples, NoExampleError, Sample
from .forms import FormJudge, judging_forms
from .imported import Imported, arguments, generate, loaded, media_of, sample_of
from .judge import Judge
from .prism import Judged, prism

STRIDE = {
    **dict.fromkeys(DOCUMENTS, volume(4, lab=1)),
    "github": volume(24, lab=1),
    "openai": volume(12, lab=1),
    "anthropic": volume(6, lab=1),
}
FEWEST = {
    "figma": volume(1, lab=46),
    "notion": volume(1, lab=20),
    "qdrant": volume(1, lab=75),
    "slack": volume(1, lab=174),
    "spotify": volume(1, lab=96),
    "stripe": volume(1, lab=111),
    "twilio_verify": volume(1, lab=9),
    "github": volume(45, lab=1_190),
    "openai": volume(17, lab=235),
    "anthropic": volume(12, lab=75),
}
"""The fewest requests of examples that fit; the rest has no example, or one that its own document refuses.
A run takes one document, another one each day."""
RECURSIVE = ("figma", "stripe")
"""Documents with circles of components in their answers, which Prism writes out."""
KNOWN = {"valid", "drawn, valid", "no example", "its example does not fit", "another operation has its path"}
CASES = volume(2, lab=25)
"""Arguments of each tool that are drawn from the schema that it shows to models."""


@pytest.mark.volume
@pytest.mark.parametrize("name", first(DOCUMENTS, 0))
async def test_requests_fit_the_document(name: str, tmp_path: Path) -> None:
    whole = cut(document(name), STRIDE[name])
    package = f"imported_{name}"
    source, mock = tmp_path / "document.json", tmp_path / "mock.json"
    source.write_text(json.dumps(whole), "utf-8")
    answering = answering_examples(whole) if name in RECURSIVE else whole
    mock.write_text(json.dumps(mocked(answering)), "utf-8")
    judged = Judged()
    with ExitStack() as exits:
        port = exits.enter_context(prism(mock))
        generate(tmp_path, source, package, "--server", f"http://127.0.0.1:{port}")
        forms = exits.enter_context(judging_forms(whole))
        hooks: Any = {"request": [judged.sent], "response": [judged.read]}
        async with httpx.AsyncClient(event_hooks=hooks, timeout=60) as http:
            imported = exits.enter_context(loaded(tmp_path, package, http))
            calls = Calls(in_version_3(whole), imported, judged, forms)
            counted = await calls.made()
    print(name, counted, calls.answers)
    assert counted.keys() <= KNOWN, counted
    assert counted["valid"] >= FEWEST[name], counted


@pytest.mark.parametrize(
    ("form", "fits"),
    first(
        [
            ("dob[day]=1&items[0][price]=2", True),
            ("dob[day]=1&items[]=x", False),
            ("dob[day]=one", False),
            ("items[0][price]=2", False),
            ('dob={"day":1}', False),
        ],
        0,
    ),
)
def test_the_judge_of_forms_reads_brackets(form: str, fits: bool) -> None:
    day = {"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]}
    item = {"$ref": "#/components/schemas/Item"}
    price = {"type": "object", "properties": {"price": {"type": "number"}}}
    properties = {"dob": day, "items": {"type": "array", "items": item}}
    schema = {"type": "object", "properties": properties, "required": ["dob"]}
    media = {"content-type": "application/x-www-form-urlencoded"}
    request = httpx.Request("POST", "https://api.example", content=form, headers=media)
    with judging_forms({"components": {"schemas": {"Item": price}}}) as judge:
        assert (judge.violations(request, schema) == "") is fits


class Calls:
    """Calls of each operation of a document."""

    def __init__(self, whole: dict[str, Any], imported: Imported, judged: Judged, forms: FormJudge) -> None:
        self._whole = whole
        self._imported = imported
        self._judged = judged
        self._forms = forms
        self._examples = Examples(whole)
        self.answers: Counter[str] = Counter()
        """Answers by how they were read."""
        self._judge = Judge(whole)

    async def made(self) -> Counter[str]:
        """Call them all, and return how many went how; what is wrong is in the text."""
        counted: Counter[str] = Counter()
        paths: dict[str, str] = {}
        for path in self._whole["paths"]:
            paths.setdefault(path.partition("?")[0], path)
        for verb, path, described, of_path in operations(self._whole):
            operation = self._imported.operation(verb, path)
            if paths[path.partition("?")[0]] != path:
                counted["another operation has its path"] += 1
            elif operation is None:
                counted[f"no operation: {verb} {path}"] += 1
            else:
                counted[await self._by_example(operation, described, of_path)] += 1
                for values in self._imported.drawn(operation, CASES):
                    counted[await self._by_drawing(operation, values, described, of_path)] += 1
        return counted

    async def _by_example(self, operation: Operation[Any, Any], described: Any, of_path: Any) -> str:
        http = operation.transport
        assert isinstance(http, HTTP)
        media = media_of(operation, described, self._examples)
        try:
            sample = self._examples.sample(described, of_path, media)
        except NoExampleError:
            return "no example"
        own = Sample(dict(sample.parameters), sample.body)
        if http.body is not None:
            sample.body = as_arguments(http.body, sample.body)
        wrong = await self._wrong(operation, described, arguments(operation, sample))
        if not wrong:
            return "valid"
        return wrong if self._fits(own, described, of_path, media) else "its example does not fit"

    async def _by_drawing(
        self, operation: Operation[Any, Any], values: dict[str, Any], described: Any, of_path: Any
    ) -> str:
        wrong = await self._wrong(operation, described, values)
        if not wrong:
            return "drawn, valid"
        media = media_of(operation, described, self._examples)
        fits = self._fits(sample_of(operation, values), described, of_path, media)
        return f"drawn, {'fits' if fits else 'does not fit'}: {json.dumps(values)[:300]}, {wrong}"

    async def _wrong(self, operation: Operation[Any, Any], described: Any, values: dict[str, Any]) -> str:
        """Call a tool, and return what is wrong with its request or with its answer; "" for nothing."""
        http = operation.transport
        assert isinstance(http, HTTP)
        has_brackets = http.body is not None and http.body.style == "deepObject"
        self._judged.clear(reads_bodies=not has_brackets)
        result = await self._imported.call(operation, values)
        if not self._judged.is_valid:
            said = self._judged.said or f"is not sent: {result.json.decode()}"
            return f"{operation.name}: {said[:600]}"
        if has_brackets and (wrong := self._wrong_form(operation, described)):
            return f"{operation.name}, by Ajv: {wrong[:600]}"
        answer = self._judged.answers[-1]
        if has_brackets and answer.status_code in (415, 422):
            self.answers["a form that Prism cannot read"] += 1
            return ""
        if answer.status_code >= 300:
            self.answers["an error"] += 1
            return ""
        if result.status != "ok":
            return f"cannot be read: {result.json.decode()[:600]}"
        self.answers["with warnings" if result.warnings else "typed"] += 1
        if result.warnings and self._answer_fits(answer, described):
            said = f"{result.warnings[:2]}, {answer.text[:300]}"
            return f"{operation.name} warns of an answer that fits: {said}"
        return ""

    def _wrong_form(self, operation: Operation[Any, Any], described: Any) -> str:
        """Return what of the form of the last request does not fit; "" for nothing."""
        request = self._judged.requests[-1]
        if "content-type" not in request.headers:
            return ""
        content = self._examples.followed(described["requestBody"])["content"]
        media = media_of(operation, described, self._examples)
        return self._forms.violations(request, self._examples.followed(content[media]["schema"]))

    def _answer_fits(self, answer: httpx.Response, described: Any) -> bool:
        media = answer.headers.get("content-type", "")
        schema = self._examples.schema_of_answer(described, answer.status_code, media)
        return schema is not None and self._judge.fits(answer.json(), schema)

    def _fits(self, own: Sample, described: dict[str, Any], of_path: Any, media: str) -> bool:
        """Return whether the examples fit the document by openapi-schema-validator."""
        for parameter in map(self._examples.followed, [*of_path, *described.get("parameters", [])]):
            value = own.parameters.get((parameter["in"], parameter["name"]), MISSING)
            if value is not MISSING and not self._judge.fits(value, parameter.get("schema", {})):
                return False
        if not media or own.body is MISSING:
            return True
        content = self._examples.followed(described["requestBody"])["content"]
        return self._judge.fits(own.body, content[media].get("schema", {}))


def as_arguments(body: Body, value: Any) -> Any:
    """Return the value of a body as arguments have it: bytes are base64."""
    if body.media == "bytes":
        return base64.b64encode(str(value).encode()).decode()
    if body.media != "multipart" or not isinstance(value, dict):
        return value
    made = dict(value)
    for name in body.files:
        if name in made:
            files = made[name] if isinstance(made[name], list) else [made[name]]
            encoded = [base64.b64encode(str(each).encode()).decode() for each in files]
            made[name] = encoded if isinstance(made[name], list) else encoded[0]
    return made
