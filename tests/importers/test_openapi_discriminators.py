"""Unions whose discriminator is no text, and mappings with entries that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.echoing_api import COMPONENTS, EchoingAPI, api, post
from tests.importers.operations import body, operation

__all__ = ["api"]


def branches(name: str, kind: str, first: Any, second: Any, **discriminator: Any) -> dict[str, Any]:
    """Return a union of two objects, `First` and `Second`, and these."""

    def branch(key: str, value: Any) -> dict[str, Any]:
        tag = {"type": kind} if value is None else {"type": kind, "enum": [value]}
        return {"type": "object", "properties": {"v": tag, key: {"type": "string"}}, "required": ["v", key]}

    return {
        name: {
            "oneOf": [{"$ref": f"{COMPONENTS}{name}First"}, {"$ref": f"{COMPONENTS}{name}Second"}],
            "discriminator": {"propertyName": "v", **discriminator},
        },
        f"{name}First": branch("a", first),
        f"{name}Second": branch("b", second),
    }


def mapped(name: str, first: str, second: str) -> dict[str, str]:
    return {first: f"{COMPONENTS}{name}First", second: f"{COMPONENTS}{name}Second"}


def test_a_tag_that_is_no_text_is_sent_as_its_type(api: EchoingAPI) -> None:
    unions = {
        **branches("Mapped", "integer", 1, 2, mapping=mapped("Mapped", "1", "2")),
        **branches("Open", "integer", None, None, mapping=mapped("Open", "1", "2")),
        **branches("Unmapped", "integer", 1, 2),
        **branches("Number", "number", 1.5, 2.5, mapping=mapped("Number", "1.5", "2.5")),
        **branches("Flag", "boolean", None, None, mapping=mapped("Flag", "true", "False")),
    }
    values = {
        "Mapped": (1, 2),
        "Open": (1, 2),
        "Unmapped": (1, 2),
        "Number": (1.5, 2.5),
        "Flag": (True, False),
    }
    paths = {f"/{name}": post(name.lower(), {"$ref": f"{COMPONENTS}{name}"}) for name in values}
    api.publish(paths, **unions)
    assert "discriminator" not in api.said
    for name, (first, second) in values.items():
        right = {"v": second, "b": "x"}
        assert api.sent(name.lower(), {"body": right}).body == right
        wrong = {"v": first, "b": "x"}
        assert api.refused(name.lower(), {"body": wrong})
        as_text = {"v": str(second), "b": "x"}
        assert api.refused(name.lower(), {"body": as_text})


def test_branches_of_one_enumeration_are_told_by_the_mapping(api: EchoingAPI) -> None:
    kind = {"type": "integer", "enum": [1, 2]}
    unions = branches("Some", "integer", None, None, mapping=mapped("Some", "1", "2"))
    for branch in ("SomeFirst", "SomeSecond"):
        unions[branch]["properties"]["v"] = {"$ref": f"{COMPONENTS}Kind"}
    api.publish({"/p": post("p", {"$ref": f"{COMPONENTS}Some"})}, Kind=kind, **unions)
    assert api.sent("p", {"body": {"v": 2, "b": "x"}}).body == {"v": 2, "b": "x"}
    assert api.refused("p", {"body": {"v": 1, "b": "x"}})


def test_a_nullable_union_with_a_number_as_tag_takes_null(api: EchoingAPI) -> None:
    unions = branches("Some", "integer", 1, 2, mapping=mapped("Some", "1", "2"))
    unions["Some"]["nullable"] = True
    holder = {"type": "object", "properties": {"some": {"$ref": f"{COMPONENTS}Some"}}, "required": ["some"]}
    api.publish({"/p": post("p", holder)}, **unions)
    for value in (None, {"v": 1, "a": "x"}):
        assert api.sent("p", {"body": {"some": value}}).body == {"some": value}


def test_a_mapping_may_name_the_document_as_a_file_and_a_component_with_a_dot(api: EchoingAPI) -> None:
    own = branches("Own", "string", None, None, mapping=mapped("Own", "one", "two"))
    own["Own"]["discriminator"]["mapping"]["two"] = f"./api.json{COMPONENTS}OwnSecond"
    dotted = branches("v1.Dotted", "string", None, None)
    dotted["v1.Dotted"]["discriminator"]["mapping"] = {"one": "v1.DottedFirst", "two": "v1.DottedSecond"}
    paths = {
        "/own": post("own", {"$ref": f"{COMPONENTS}Own"}),
        "/dotted": post("dotted", {"$ref": f"{COMPONENTS}v1.Dotted"}),
    }
    api.publish(paths, **own, **dotted)
    for tool in ("own", "dotted"):
        assert api.sent(tool, {"body": {"v": "two", "b": "x"}}).body == {"v": "two", "b": "x"}


@pytest.mark.parametrize(
    ("kind", "mapping", "named"),
    [
        ("string", {"one": "SomeFirst", "two": "other.json"}, "'two'"),
        ("string", {"one": "SomeFirst", "two": "#/components/schemas/Nobody"}, "'two'"),
        ("string", {"one": "SomeFirst", "two": 7}, "'two'"),
        ("string", {"one": "SomeFirst", "two": "SomeSecond", "three": "Other"}, "'three'"),
        ("integer", {"1": "SomeFirst", "two": "SomeSecond"}, "'two'"),
        ("integer", {"1": "SomeFirst"}, "'SomeSecond'"),
        ("integer", {}, "'SomeFirst'"),
    ],
)
def test_what_a_discriminator_does_not_tell_apart_is_named(
    kind: str, mapping: dict[str, Any], named: str
) -> None:
    schemas = {**branches("Some", kind, None, None, mapping=mapping), "Other": {"type": "object"}}
    files = operation(body({"$ref": f"{COMPONENTS}Some"}), version="3.0.3", schemas=schemas)
    assert files.imported == 1
    [finding] = [each for each in files.findings if "discriminator" in each.message]
    assert finding.code == "import-left-out"
    assert named in finding.message
    assert finding.place.pointer == "/components/schemas/Some/discriminator"


def test_an_entry_that_the_branch_does_not_list_is_named() -> None:
    schemas = branches("Some", "string", "first", "second", mapping=mapped("Some", "1st", "second"))
    files = operation(body({"$ref": f"{COMPONENTS}Some"}), version="3.0.3", schemas=schemas)
    [finding] = files.findings
    assert "'1st': 'v' cannot have this value in the branch" in finding.message
