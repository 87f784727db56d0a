"""Each example answer of Slack's document reaches the model, also those that break their own schemas."""

from __future__ import annotations

import gzip
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest

from toolgen.calls.call import CallMeta
from toolgen.calls.errors import UnfitAnswerError
from toolgen.calls.steps.received import received_result
from toolgen.clients import Operation
from toolgen.clients.answers import AnswerPlan
from toolgen.clients.connections import Answer
from toolgen.clients.failures import Request

from ..conftest import ProjectFolder

SLACK = Path(__file__).parents[3] / "shared/corpora/openapi/slack.json.gz"
BREAK_THEIR_SCHEMA = 20
"""At least so many."""


@pytest.mark.exhaustive
@pytest.mark.skipif(not SLACK.is_file(), reason="the document of Slack is not beside this repository")
def test_every_documented_answer_reaches_the_model(project: ProjectFolder) -> None:
    text = gzip.decompress(SLACK.read_bytes()).decode()
    project.write("slack.json", text)
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.slack"\nout = "app/gen"\n')
    options = ("--out", "app/slack.py", "--allow-losses")
    for command in (("import", "openapi", "slack.json", *options), ("gen",)):
        done = project.run(*command)
        assert done.code == 0, done.err
    specs = {
        spec.binding: spec
        for file in sorted((project.path / "app/gen").glob("*/toolsets/*/specs.py"))
        for spec in import_module(".".join(file.relative_to(project.path).with_suffix("").parts)).SPECS
    }
    client = vars(import_module("app.gen.slack.client"))
    operations = {(each.transport.verb, each.transport.path): each for each in _operations(client)}
    told = 0
    examples = list(_examples(json.loads(text)))
    for (verb, path), example in examples:
        operation = operations[verb, path]
        answer = Answer(status=200, headers=httpx.Headers(), body=json.dumps(example).encode())
        request = Request(name=path, tool=path, server="slack.com", may_repeat=False)
        plan: AnswerPlan[Any] = AnswerPlan(operation, operation.transport)
        try:
            plan.result(request, answer, {}, "https://slack.com/api")
        except UnfitAnswerError as error:
            result = received_result(specs[operation.service, operation.name], error, CallMeta())
            assert (result.status, bool(result.warnings), bool(result.content)) == ("ok", True, True)
            assert json.loads(result.json).keys() == example.keys()
            told += 1
    assert len(examples) == 174
    assert told >= BREAK_THEIR_SCHEMA


def _operations(module: dict[str, Any]) -> list[Any]:
    return [each for each in module.values() if isinstance(each, Operation)]


def _examples(document: Any) -> Any:
    for path, item in document["paths"].items():
        for verb in ("get", "post"):
            if verb in item:
                yield (verb.upper(), path), item[verb]["responses"]["200"]["examples"]["application/json"]
