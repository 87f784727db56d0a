"""A call does not become more expensive without somebody deciding so: its work is counted, not timed."""

from __future__ import annotations

import os
import platform
import sys
from typing import Final

import pytest

from .hot_paths import PATHS, work_on

GROWTH: Final = 1.02
"""Up to which a figure may grow unnoticed."""
FIGURES: Final[dict[tuple[int, int], dict[str, tuple[int, int]]]] = {
    (3, 11): {
        "ping": (359, 2),
        "ping with a hook": (774, 2),
        "ping with a time limit": (1_133, 2),
        "20 devices": (549, 1),
        "20 devices with two hooks": (1_232, 1),
        "20 devices and an artifact": (1_025, 1),
        "20 devices with a subscriber": (1_644, 1),
        "foreign with rules": (605, 1),
        "arguments that do not fit": (594, 1),
    },
}
"""By version of Python, whose compilers differ: instructions with native calls, and codings, of one call."""
HOW: Final = """
{path!r} executes {what}.
To see where: run `python -m tests.runtime.hot_paths {path!r}` here and in a checkout of before, and compare.
If it has to be so, write the new figure into FIGURES of tests/runtime/test_hot_paths.py, in a commit of its
own that says what the work is for. One that has become less is written there too, so that it stays so."""


@pytest.mark.parametrize("path", PATHS)
def test_a_call_executes_no_more_than_it_did(path: str) -> None:
    instructions, codings = figures()[path]
    work = work_on(path)
    more = f"{work.total} instructions, {work.total / instructions - 1:+.1%} of {instructions}"
    assert work.total <= instructions * GROWTH, HOW.format(path=path, what=more)
    coded = f"{work.codings} codecs of pydantic, and not {codings}"
    assert work.codings <= codings, HOW.format(path=path, what=coded)


def figures() -> dict[str, tuple[int, int]]:
    """Return those of this Python; that there are none is a failure in CI, and a reason to skip elsewhere."""
    found = FIGURES.get(sys.version_info[:2])
    if found is None or platform.python_implementation() != "CPython":
        why = f"FIGURES has none of {platform.python_implementation()} {platform.python_version()}"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return found


def test_the_same_call_executes_the_same_and_a_hook_is_noticed() -> None:
    plain = work_on("ping")
    assert work_on("ping") == plain
    assert work_on("ping with a hook").total > plain.total * GROWTH
