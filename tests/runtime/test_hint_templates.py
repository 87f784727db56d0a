"""What a policy reads of a tool's behaviour."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.catalog_entries import catalog_entry
from tests.runtime.tools import spec

CAREFUL = {"read_only": False, "destructive": True, "idempotent": False, "open_world": True, "edit": False}


@pytest.mark.parametrize(
    ("annotations", "differs"),
    [
        ({}, {}),
        ({"read_only": True}, {"read_only": True, "destructive": False}),
        ({"read_only": True, "destructive": True}, {"read_only": True}),
        ({"destructive": False, "idempotent": True}, {"destructive": False, "idempotent": True}),
        ({"open_world": False, "edit": True}, {"open_world": False, "edit": True}),
    ],
)
def test_what_the_author_left_open_is_taken_with_care(annotations: Any, differs: dict[str, bool]) -> None:
    assert spec(annotations=annotations).hints == {**CAREFUL, **differs}


def test_the_catalog_says_the_same() -> None:
    told: Any = catalog_entry(spec(annotations={"read_only": True}))["annotations"]
    assert told == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": False,
        "openWorldHint": True,
    }


def test_what_an_approval_is_for_is_found_once_and_differs_with_the_behaviour() -> None:
    tool = spec(annotations={})
    assert tool.approval_digest is tool.approval_digest
    assert replace(tool, annotations={"edit": True}).approval_digest != tool.approval_digest
    assert replace(tool, title="Another title").approval_digest == tool.approval_digest
