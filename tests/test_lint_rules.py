"""The rules of the linter: each finds its case, and lets the repaired tool through."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolgen.checks.linting import CODES, RULES, LintedTool, LintSettings, ToolsetContext, lint
from toolgen.contract.findings import Place

DOCUMENT = Path(__file__).parents[1] / "docs" / "executors.md"


def arguments(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def of_type(type_: str, description: str = "What the caller wants to see.", **facts: Any) -> dict[str, Any]:
    return {"type": type_, "description": description, **facts}


GOOD = LintedTool(
    id="desk.notes.list_notes",
    name="list_notes",
    toolset="desk.notes",
    description="List the notes of a person, the newest first.",
    payload=arguments(person=of_type("string")),
    result=arguments(count=of_type("integer")),
    has_examples=False,
    is_bounded=False,
    has_annotations=True,
)
ALL = LintSettings(levels=dict.fromkeys(RULES, "warning"))


def nested(depth: int) -> dict[str, Any]:
    schema = of_type("string")
    for _ in range(depth - 1):
        schema = of_type("object", properties={"inner": schema}, additionalProperties=False)
    return arguments(outer=schema)


NOTES = arguments(notes={"type": "array", "items": {"type": "string"}})
CASES = {
    "no-description": (
        replace(GOOD, payload=arguments(person={"type": "string"})),
        replace(GOOD, payload=arguments(person=of_type("string"))),
    ),
    "unhelpful-description": (
        replace(GOOD, payload=arguments(person_id=of_type("string", "The person's id."))),
        replace(GOOD, payload=arguments(person_id=of_type("string", "The person's id, from list_people."))),
    ),
    "generic-name": (replace(GOOD, name="run"), replace(GOOD, name="run_report")),
    "filter-as-order": (
        replace(GOOD, payload=arguments(state=of_type("string", "Keep the notes in this state."))),
        replace(GOOD, payload=arguments(state=of_type("string", "Only notes in this state."))),
    ),
    "vague-words": (
        replace(GOOD, description="Do something with the notes of a person."),
        replace(GOOD, description="Archive the notes of a person."),
    ),
    "missing-unit": (
        replace(GOOD, payload=arguments(timeout=of_type("integer", "Time to wait for an answer."))),
        replace(GOOD, payload=arguments(timeout=of_type("integer", "Seconds to wait for an answer."))),
    ),
    "repeated-toolset": (replace(GOOD, name="notes_list"), replace(GOOD, name="list_notes")),
    "many-arguments": (
        replace(GOOD, payload=arguments(**{f"place_{n}": of_type("string") for n in range(16)})),
        replace(GOOD, payload=arguments(**{f"place_{n}": of_type("string") for n in range(15)})),
    ),
    "deep-arguments": (replace(GOOD, payload=nested(5)), replace(GOOD, payload=nested(4))),
    "unbounded-list": (replace(GOOD, result=NOTES), replace(GOOD, result=NOTES, is_bounded=True)),
    "missing-annotations": (replace(GOOD, has_annotations=False), replace(GOOD, has_annotations=None)),
    "opaque-enum": (
        replace(GOOD, payload=arguments(level=of_type("string", "Its level.", enum=["b1", "b2"]))),
        replace(GOOD, payload=arguments(level=of_type("string", "b1: basement; b2.", enum=["b1", "b2"]))),
    ),
    "missing-example": (
        replace(GOOD, payload=arguments(form=of_type("object", properties={f"f{n}": {} for n in range(7)}))),
        replace(
            GOOD,
            payload=arguments(form=of_type("object", properties={f"f{n}": {} for n in range(7)})),
            has_examples=True,
        ),
    ),
    "costly-tool": (
        replace(GOOD, description="List the notes. " * 300),
        replace(GOOD, description="List the notes. " * 100),
    ),
    "not-strict": (
        replace(GOOD, payload=arguments(form=of_type("object"))),
        replace(GOOD, payload=arguments(form=of_type("object", properties={}, additionalProperties=False))),
    ),
}


def test_a_list_as_the_whole_result_is_unbounded_too() -> None:
    (finding,) = lint([replace(GOOD, result=NOTES["properties"]["notes"])], ALL).findings
    assert finding.code == "unbounded-list"
    assert finding.message.endswith("the list that it returns has no limit on its length")


@pytest.mark.parametrize("code", RULES)
def test_a_rule_finds_its_case_and_lets_the_repair_through(code: str) -> None:
    bad, good = CASES[code]
    (finding,) = (one for one in lint([bad], ALL).findings if one.code == code)
    assert finding.tool == bad.id
    assert finding.hint
    assert finding.is_warning
    assert code not in {one.code for one in lint([good], ALL).findings}
    assert lint([GOOD], ALL).findings == ()


def test_tools_that_differ_by_name_only_are_told_apart() -> None:
    again = replace(GOOD, id="desk.notes.get_notes", name="get_notes")
    (finding,) = lint([GOOD, again], ALL).findings
    assert finding.code == "similar-tools"
    assert finding.tool == again.id
    assert GOOD.id in finding.message
    assert (
        lint([GOOD, replace(again, description="Get the notes that wait for an answer.")], ALL).findings == ()
    )


def test_a_suppressed_rule_is_listed_and_one_that_hides_nothing_is_reported() -> None:
    bad = replace(GOOD, result=NOTES, suppressed={"unbounded-list": "Ten at most.", "deep-arguments": "Old."})
    linted = lint([bad], ALL)
    assert linted.suppressed == ((bad.id, "unbounded-list", "Ten at most."),)
    assert [finding.code for finding in linted.findings] == ["unused-suppress"]
    (unknown,) = lint([replace(GOOD, suppressed={"many-args": "Old."})], ALL).findings
    assert "an unknown rule: 'many-args'" in unknown.message


def test_a_clause_of_a_toolset_is_unused_where_no_tool_of_it_needs_it() -> None:
    toolset_context = ToolsetContext(
        suppressed={"unbounded-list": "Ten."}, place=Place(file="a.py", line=3, column=1)
    )
    fine = replace(GOOD, toolset_context=toolset_context)
    bad = replace(fine, id="desk.notes.other", result=NOTES, description="Notes that wait for an answer.")
    linted = lint([fine, bad], ALL)
    assert linted.findings == ()
    assert linted.suppressed == ((bad.id, "unbounded-list", "Ten."),)
    (unused,) = lint([fine, replace(bad, result=None)], ALL).findings
    assert unused.code == "unused-suppress"
    assert unused.message == "toolset 'desk.notes': its Suppress of 'unbounded-list' suppresses nothing"
    assert (unused.tool, unused.place.line) == ("", 3)
    assert lint([fine], replace(ALL, levels={"unused-suppress": "off"})).findings == ()


@pytest.mark.parametrize(
    ("name", "description", "is_helpful"),
    [
        ("site_id", "Site to list.", True),
        ("site_id", "The id of the site.", False),
        ("names", "A list of names.", False),
    ],
)
def test_verbs_of_a_description_say_something(name: str, description: str, is_helpful: bool) -> None:
    schema = of_type("array" if name == "names" else "string", description)
    findings = lint([replace(GOOD, payload=arguments(**{name: schema}))]).findings
    assert ("unhelpful-description" not in {one.code for one in findings}) == is_helpful


@pytest.mark.parametrize(
    ("values", "description", "is_opaque"),
    [
        (["en", "de", "fr"], "Which one.", False),
        (["EN", "DE", "FR"], "Which one.", True),
        (["g", "k"], "The weight, in kilograms.", True),
        (["g", "k"], "In g (grams), or k.", False),
    ],
)
def test_an_opaque_enum_is_named_with_its_place(values: list[str], description: str, is_opaque: bool) -> None:
    inner = {"type": "array", "items": of_type("string", description, enum=values)}
    payload = arguments(filter=of_type("object", properties={"units": inner}, additionalProperties=False))
    tool = replace(GOOD, payload=payload, place=Place(file="a.py", line=3, column=1))
    findings = lint([tool]).findings
    assert [one.code for one in findings] == ["opaque-enum"] * is_opaque
    for finding in findings:
        assert finding.message.startswith(f"values of 'filter.units[]' such as {values[0]!r} have no")
        pointer = "/properties/filter/properties/units/items/enum"
        assert (finding.place.line, finding.place.pointer) == (3, pointer)


def test_levels_and_limits_of_a_project_count() -> None:
    bad, _ = CASES["many-arguments"]
    strict = LintSettings(levels={"many-arguments": "error"})
    assert [finding.severity for finding in lint([bad], strict).findings] == ["error"]
    for settings in (
        LintSettings(levels={"many-arguments": "off"}),
        LintSettings(levels={"many-arguments": "warning"}, limits={"many-arguments": 16}),
    ):
        assert lint([bad], settings).findings == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/Node", "$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}}},
        {"$ref": "#"},
        {"$ref": "#/$defs/nothing"},
        {"properties": {"a": True, "b": {"items": False, "enum": 3}, "c": {"description": 4}}},
        {"properties": [], "anyOf": {}, "type": ["object", "null"]},
        {},
    ],
)
def test_schemas_of_others_are_looked_at_without_an_error(schema: dict[str, Any]) -> None:
    """Recursive and broken ones end; what is no schema is not looked at."""
    lint([replace(GOOD, payload=schema, result=schema)], replace(ALL, levels={"not-strict": "off"}))


def test_the_document_lists_the_rules_with_their_defaults() -> None:
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in DOCUMENT.read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    listed = {code: (limit, default) for code, _, limit, _, default in rows}
    settings = LintSettings()
    rules = {
        code: (str(RULES[code].limit or "") if code in RULES else "", settings.level(code))
        for code in CODES
        if code != "unused-suppress"
    }
    assert listed == {
        code: (limit, "off" if level == "off" else "on") for code, (limit, level) in rules.items()
    }
