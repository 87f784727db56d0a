"""How often servers look for garbage."""

from __future__ import annotations

import gc

from toolgen.cli.garbage import server_collections


def test_a_server_looks_less_often_and_not_among_what_it_began_with() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with server_collections():
        assert gc.get_threshold()[:2] == (50_000, 40)
        assert gc.get_freeze_count() > frozen
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def look() -> int:
    """Look among the new objects as Python does, and return after how many the next look comes."""
    gc.collect(0)
    return gc.get_threshold()[0]


def cycle() -> None:
    itself: list[object] = []
    itself.append(itself)


def test_looks_of_a_server_become_rarer_while_they_find_nothing() -> None:
    with server_collections():
        gc.collect()
        assert [look() for _ in range(6)] == [100_000, 200_000, 400_000, 800_000, 800_000, 800_000]
        gc.disable()  # so that the objects are there for one look
        try:
            for _ in range(1_000):
                cycle()
            assert look() == 800_000
            for _ in range(50_000):
                cycle()
            assert [look(), look()] == [50_000, 100_000]
        finally:
            gc.enable()


def test_what_the_author_sets_meanwhile_stays() -> None:
    with server_collections():
        assert look() == 100_000
        gc.set_threshold(123, 4, 5)
        assert [look(), look()] == [123, 123]


def test_what_the_author_has_set_stays() -> None:
    before = gc.get_threshold()
    gc.set_threshold(123, 4, 5)
    try:
        with server_collections():
            assert gc.get_threshold() == (123, 4, 5)
        assert gc.get_threshold() == (123, 4, 5)
    finally:
        gc.set_threshold(*before)
