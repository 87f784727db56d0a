"""Nothing contradicts a proof: pairs of schemas by the seed, and documents of the smaller one.

`make lab` tries ten thousand pairs and a million documents, and prints the shares of the verdicts.
"""

from __future__ import annotations

from itertools import islice

import pytest

from tests.compatibility.pairs import random_pairs, tool_pairs, tool_schemas
from tests.compatibility.soundness import check
from tests.selection import volume

DOCUMENTS = volume(20, lab=130)
"""Documents of each pair that was proved."""


@pytest.mark.exhaustive
def test_random_schemas() -> None:
    figures = check(islice(random_pairs(seed=1), 60), seed=1, each=12)
    assert min(figures.verdicts["contained"], figures.verdicts["not contained"]) > 0, figures.text()


@pytest.mark.exhaustive
def test_schemas_of_tools() -> None:
    figures = check(islice(tool_pairs(tool_schemas(), seed=2), 100), seed=2, each=12)
    assert figures.verdicts["cannot tell"] <= 3, figures.text()


@pytest.mark.volume
@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(10))
def test_many_random_schemas(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    figures = check(islice(random_pairs(100 + seed), volume(20, lab=500)), seed, DOCUMENTS)
    with capsys.disabled():
        print(f"\n{figures.text()}")


@pytest.mark.volume
@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(10))
def test_many_schemas_of_tools(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    figures = check(islice(tool_pairs(tool_schemas(), 200 + seed), volume(30, lab=500)), seed, DOCUMENTS)
    with capsys.disabled():
        print(f"\n{figures.text()}")
    assert figures.verdicts["cannot tell"] <= figures.verdicts.total() // 50
