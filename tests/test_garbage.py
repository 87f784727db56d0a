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


def test_what_the_author_has_set_stays() -> None:
    before = gc.get_threshold()
    gc.set_threshold(123, 4, 5)
    try:
        with server_collections():
            assert gc.get_threshold() == (123, 4, 5)
        assert gc.get_threshold() == (123, 4, 5)
    finally:
        gc.set_threshold(*before)
