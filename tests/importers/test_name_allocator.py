"""The allocator of names: what the last import gave comes first, and what is gone is free."""

from __future__ import annotations

from toolgen.importers.names import DesignNames


def test_names_that_wait_for_what_had_them() -> None:
    names = DesignNames({"object a": "Node", "object b": "Node", "tool x": "find"})
    assert names.assign("object c", "Node") == "Node2"
    assert names.assign("object d", "Node", also="object b") == "Node"
    assert names.assign_all({"tool y": ["find"], "tool x": ["find"]}) == {
        "tool y": "find_2",
        "tool x": "find",
    }
    names.restart()
    assert names.assign("object a", "Node") == "Node"
    assert names.assigned == {"tool x": "find", "tool y": "find_2", "object a": "Node"}


def test_a_name_that_is_gone_is_free_again() -> None:
    names = DesignNames({"tool x": "find", "tool y": "find_2"})
    assert names.assign_all({"tool z": ["find"], "tool y": ["find"]}) == {
        "tool z": "find",
        "tool y": "find_2",
    }
