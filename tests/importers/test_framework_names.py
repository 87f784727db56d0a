"""Names of tools for operations whose ids a framework made."""

from __future__ import annotations

import pytest

from toolgen.importers.openapi import OpenAPIOptions
from toolgen.importers.openapi_operations import Selection

from .test_names import document, imported, names_of, operation


@pytest.mark.parametrize(
    ("id_", "path", "name"),
    [
        ("list_items_items_get", "/items", "list_items"),
        ("read_item_items__item_id__get", "/items/{item_id}", "read_item"),
        ("root__get", "/", "root"),
        ("get_users_get", "/users", "get"),
        ("list_items_items_post", "/items", "list_items_items_post"),
        ("list_items_things_get", "/items", "list_items_things_get"),
        ("_items_get", "/items", "items_get"),
        ("listItems", "/items", "list_items"),
        ("ItemsController_findAll", "/items", "items_find_all"),
        ("ItemsController_findAll_v2", "/items", "items_find_all_v2"),
        ("Controller_findAll", "/items", "controller_find_all"),
        ("ItemsController_FindAll", "/items", "items_controller_find_all"),
        (
            "AuthorizationOrganizationRolePermissionsController_setPermissionsOfOrganization",
            "/items",
            "authorization_organization_role_permissions_set_permiss_7b656478",
        ),
    ],
)
def test_what_a_framework_adds_to_the_name_of_a_function_comes_off(id_: str, path: str, name: str) -> None:
    files = imported(document(paths={path: {"get": operation(id_)}}))
    assert names_of(files, "tool") == {id_: name}


ITEMS = {"/items": {"get": operation("read_items_get")}}
BOTH = {"/books": {"get": operation("read_books_get")}, **ITEMS}


def test_what_fastapi_adds_stays_where_two_functions_have_one_name() -> None:
    assert names_of(imported(document(paths=BOTH)), "tool") == {
        "read_books_get": "read_books_get",
        "read_items_get": "read_items_get",
    }
    first = imported(document(paths=ITEMS))
    again = imported(document(paths=BOTH), names=first.names)
    assert names_of(again, "tool") == {"read_books_get": "read_books_get", "read_items_get": "read"}


def test_a_controller_stays_where_two_operations_would_have_one_name() -> None:
    paths = {f"/{id_}": {"get": operation(id_)} for id_ in ("ItemsController_read", "Items_read")}
    assert names_of(imported(document(paths=paths)), "tool") == {
        "ItemsController_read": "items_controller_read",
        "Items_read": "items_read",
    }


@pytest.mark.parametrize("option", ["read", "read_items_get"])
def test_an_option_names_an_operation_by_its_short_or_whole_id(option: str) -> None:
    for selection in (Selection(only=(option,)), Selection(renamed={option: "look"})):
        files = imported(document(paths=ITEMS), options=OpenAPIOptions(selection=selection))
        assert (files.imported, files.findings) == (1, ())
