"""What a design cannot carry of imported tools is left out or mended with a finding; the rest stays."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.importers.designs import UNIQUE, built, errors, imported, object_, tool
from toolgen.importers.python_functions import read_functions


def test_a_tool_without_a_description_gets_one_and_a_warning() -> None:
    found = imported(tool("find_things", {"type": "object"}, description=" ", pointer="/tools/0"))
    assert '"Find things."' in found.files["tools.py"]
    (finding,) = found.findings
    assert (finding.tool, finding.place.pointer, finding.is_warning) == ("find_things", "/tools/0", True)


def test_tools_of_one_identifier_are_numbered_and_said(tmp_path: Path) -> None:
    found = imported(
        tool("get_user", object_({})), tool("getUser", object_({})), tool("get-user", object_({}))
    )
    assert found.imported == 3
    assert [finding.tool for finding in found.findings] == ["getUser", "get-user"]
    evaluation = built(found, tmp_path)
    assert errors(evaluation) == []
    assert evaluation.design is not None
    names = [each.name for each in evaluation.design.services[0].toolsets[0].tools]
    assert names == ["get_user", "get_user_2", "get_user_3"]


def test_a_tool_with_a_long_name_is_left_out_and_the_rest_is_imported() -> None:
    found = imported(
        tool("a" * 300, {"type": "object"}, pointer="/tools/0"), tool("find", {"type": "object"})
    )
    assert found.imported == 1
    (finding,) = found.findings
    assert finding.tool == "a" * 300
    assert "300 characters" in finding.message
    assert not finding.is_warning


def test_a_tool_with_a_bad_schema_is_left_out_with_its_place() -> None:
    bad = object_({"a": {"$ref": "#/$defs/Nope"}})
    found = imported(
        tool("find", bad, arguments_pointer="/tools/0/inputSchema"), tool("load", {"type": "object"})
    )
    assert found.imported == 1
    (finding,) = found.findings
    assert str(finding.place.pointer).startswith("/tools/0/inputSchema/properties/a")


def test_without_a_tool_there_are_no_files() -> None:
    assert imported(tool("a" * 300)).files == {}


def test_arguments_with_a_default_of_a_required_property_stay_a_schema_whose_codec_fills_it() -> None:
    arguments = object_({"limit": {"type": "integer", "default": 3}}, "limit")
    found = imported(tool("find", arguments))
    assert found.findings == ()
    assert 'd.Args(d.JSONSchema("tools_schemas/find.args.json"))' in found.files["tools.py"]
    assert json.loads(found.files["tools_schemas/find.args.json"]) == arguments


@pytest.mark.parametrize(
    ("side", "pattern"), [("result", {}), ("arguments", {"pattern": "^a"})], ids=["result", "not plain"]
)
def test_another_default_of_a_required_property_is_left_out_with_a_warning(
    side: str, pattern: dict[str, Any]
) -> None:
    schema = object_({"sort": {"type": "string", "default": "a", **pattern}}, "sort")
    sides: dict[str, Any] = {"arguments": {"type": "object"}, side: schema}
    found = imported(tool("find", **sides, **{f"{side}_pointer": "/here"}))
    (finding,) = found.findings
    assert finding.place.pointer == "/here/properties/sort/default"
    assert finding.is_warning
    assert "default" not in found.files["tools.py"]


def test_examples_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    found = imported(tool("find", object_({"limit": {"type": "integer", "examples": ["a", 3]}})))
    assert "examples=(3,)" in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []


def test_examples_that_a_schema_in_a_design_refuses_are_left_out(tmp_path: Path) -> None:
    found = imported(tool("find", object_({"all": {**UNIQUE, "examples": [5, [1, 1], [1]]}})))
    assert "examples=([1],)" in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []


def test_hints_that_contradict_each_other_are_one_hint(tmp_path: Path) -> None:
    found = imported(tool("find", {"type": "object"}, annotations={"read_only": True, "destructive": True}))
    assert "d.Annotations(read_only=True)" in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []


def test_an_exception_in_one_tool_is_its_finding_and_leaves_the_others() -> None:
    odd: Any = None  # no reader makes such an icon
    listed = {**object_({"a": {"type": "string"}}), "not": {"required": ["b"]}}
    found = imported(tool("broken", listed, icons=(odd,), pointer="/tools/0"), tool("good"))
    [finding] = found.findings
    assert (finding.code, finding.tool, finding.place.pointer) == (
        "import-internal-error",
        "broken",
        "/tools/0",
    )
    assert re.fullmatch(
        r"raised AttributeError\(.*\) in toolgen\.importers\.design, line \d+", finding.message
    )
    assert found.imported == 1
    assert list(found.files) == ["tools.py"]


def test_an_exception_while_one_tool_is_read_is_its_finding_and_leaves_the_others() -> None:
    class Unnamed:
        """A function whose signature cannot be read."""

        @property
        def __signature__(self) -> object:
            raise OSError("its file is gone")

        def __call__(self) -> None: ...

    def good() -> None:
        """Good."""

    read = read_functions("tools", "Tools.", {"unnamed": Unnamed(), "good": good})
    [finding] = read.findings
    assert (finding.code, finding.tool) == ("import-bad-function", "unnamed")
    assert "OSError" in finding.message
    assert [each.name for each in read.tools] == ["good"]
