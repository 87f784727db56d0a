"""Identifiers of generated code follow from the names of a design."""

from __future__ import annotations

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgen.shapes.design.model import ToolModel
from toolgen.shapes.naming import (
    class_name,
    constant,
    field_name,
    method_name,
    module_name,
    setter_name,
    type_title,
)


@pytest.mark.parametrize(
    ("key", "attribute"),
    [
        ("site_id", "site_id"),
        ("fooBar", "foo_bar"),
        ("HTTPStatus", "http_status"),
        ("oauth2", "oauth2"),
        ("oauth2Token", "oauth2_token"),
        ("content-type", "content_type"),
        ("a__b", "a__b"),
        ("class", "class_"),
        ("copy", "copy_"),
        ("model_config", "model_config_"),
        ("str", "str_"),
        ("_private", "private"),
        ("2fa", "field_2_fa"),
        ("@id", "id"),
        ("Größe", "größe"),
        ("日本", "日本"),
        ("ﬁle", "file"),  # as Python reads an identifier: NFKC
        ("🎉", "field"),
        ("", "field"),
    ],
)
def test_an_attribute_follows_from_its_key(key: str, attribute: str) -> None:
    assert field_name(key) == attribute


@pytest.mark.exhaustive
@given(st.text())
def test_every_key_has_an_attribute_that_python_and_pydantic_take(key: str) -> None:
    name = field_name(key)
    assert name.isidentifier()
    assert not keyword.iskeyword(name)
    assert not name.startswith("_")
    assert not hasattr(ToolModel, name)


@given(st.text())
def test_every_name_makes_a_class(name: str) -> None:
    assert class_name("x", name).isidentifier()


@pytest.mark.parametrize(
    ("name", "class_"),
    [
        ("HTTPServer", "HTTPServer"),
        ("Café", "Cafe"),
        ("日本", "Field"),
        ("2fa", "T2fa"),
        ("Warning", "Warning_"),
    ],
)
def test_a_class_is_ascii_and_none_of_pythons(name: str, class_: str) -> None:
    assert class_name(name) == class_


def test_a_name_is_the_same_in_all_rooms() -> None:
    assert class_name("list_devices", "payload") == "ListDevicesPayload"
    assert constant("list_devices") == "LIST_DEVICES"
    assert module_name("DeviceService") == "device_service"
    assert module_name("t2") == "t2"
    assert method_name("import") == "import_"
    assert setter_name("session_id") == "set_session_id"


def test_nothing_that_pydantic_has_is_an_attribute() -> None:
    taken = {name for name in {*dir(ToolModel), *dir(type(ToolModel))} if not name.startswith("_")}
    assert [name for name in taken if field_name(name) == name] == []


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Device", "Device"),
        ("TimeSeries", "Time series"),
        ("HTTPServer", "HTTP server"),
        ("snake_case", "Snake case"),
        ("T1", "T1"),
        ("名前", "名前"),
        ("_", "_"),
    ],
)
def test_a_type_has_a_title_for_people(name: str, title: str) -> None:
    assert type_title(name) == title
