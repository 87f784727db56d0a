"""Which formats of a catalog a codec checks, and which stand there as notes of somebody else."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.catalog_entries import catalog_entry
from tests.golden import write
from toolgen.catalog import format_schema, parse_catalog
from toolgen.catalog.entry import DESIGN_ONLY, without
from toolgen.codegen import generate
from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    Completion,
    Confirm,
    Date,
    DateTime,
    Design,
    JSONSchema,
    Object,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Url,
    Uuid,
    build,
)
from toolgen.runtime import ToolSpec, ToolValidationError

PACKAGE = "noted_formats_gen"
MAIL = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "format": "email"},
        "format": {"type": "string", "default": {"format": "email"}},
        "a/b~c": {"type": "array", "prefixItems": [{"type": "string", "format": "phone"}]},
    },
}
OWN = Object(
    Attribute("at", DateTime, "When."),
    Attribute("on", Date, "Which day."),
    Attribute("id", Uuid, "Which one."),
    Attribute("page", Url, "Where."),
    Attribute("host", String(format="hostname"), "Which host."),
    Attribute("mails", ArrayOf(JSONSchema(MAIL)), "Mails."),
)
POINTERS = ["/properties/to/format", "/properties/a~1b~0c/prefixItems/0/format"]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    send = Tool(
        "send",
        "Send it.",
        Args(*OWN.children),
        Return(JSONSchema(MAIL)),
        Artifact("log", OWN, "What was done."),
        Confirm(payload=OWN),
    )
    sums = Completion("sums", "Sum up.", Return(Attribute("mail", JSONSchema(MAIL), "The last one.")))
    design = Design("d", "D.", Service("s", "Serves.", Toolset("t", "Tools.", send), sums))
    evaluation = build(design)
    assert evaluation.design is not None, evaluation.diagnostics
    return generate(evaluation.design, module="d")


@pytest.fixture(scope="module")
def spec(texts: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolSpec[Any, Any]]:
    folder: Path = tmp_path_factory.mktemp("noted")
    write(folder, {f"{PACKAGE}/{path}": text for path, text in texts.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)
        yield importlib.import_module(f"{PACKAGE}.s.toolsets.t").SPECS[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_a_catalog_lists_the_formats_that_codecs_check(texts: dict[str, str]) -> None:
    catalog = json.loads(texts["tool_schemas.json"])
    assert catalog["catalog"]["asserted_formats"] == [
        "date", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"
    ]  # fmt: skip
    jsonschema.Draft202012Validator(format_schema()).validate(catalog)


def test_a_type_points_to_the_formats_that_somebody_else_wrote(texts: dict[str, str]) -> None:
    catalog = parse_catalog(json.loads(texts["tool_schemas.json"]))
    (tool,) = catalog.tools

    def nested(name: str) -> list[str]:
        return [f"/$defs/{name}{pointer}" for pointer in POINTERS]

    assert tool["payload"]["noted_formats"] == nested("SendPayloadMails")
    assert tool["result"]["noted_formats"] == POINTERS
    assert tool["artifacts"][0]["noted_formats"] == nested("SendLogMails")
    assert tool["confirmation"]["payload"]["noted_formats"] == nested("SendApprovalMails")
    (completion,) = catalog.completions
    assert completion["result"]["noted_formats"] == nested("SumsResultMail")


def test_a_codec_checks_the_one_and_not_the_other(spec: ToolSpec[Any, Any]) -> None:
    spec.payload.decode({"mails": [{"to": "no address"}]})
    for name in ("at", "on", "id", "page", "host"):
        with pytest.raises(ToolValidationError, match=name):
            spec.payload.decode({name: "-"})


def test_the_runtime_says_the_same(texts: dict[str, str], spec: ToolSpec[Any, Any]) -> None:
    (tool,) = parse_catalog(json.loads(texts["tool_schemas.json"])).tools
    assert catalog_entry(spec) == without(tool, DESIGN_ONLY)
    assert spec.digest == tool["digest"]
