"""Sentences of the documents are short."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sentences import DOCUMENTS, MEAN, mean, sentences, too_long
from tests.test_docs import name_of


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_no_sentence_is_too_long(file: Path) -> None:
    assert [(each.words, each.text) for each in too_long(file)] == []


def test_sentences_are_short_on_average() -> None:
    assert mean(DOCUMENTS) <= MEAN


def test_code_links_lists_and_tables_are_read_as_people_do(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(
        "# A heading.\n\nFirst `a b c`\nends. `d` starts\n\n- an [item with](x.md#y z) it\n- two\n\n"
        "```sh\nno sentence. None\n```\n\n| a | one; two |\n|---|---|\n"
    )
    found = [(each.text, each.words, each.in_table) for each in sentences(file)]
    assert found == [
        ("First code ends.", 3, False),
        ("code starts", 2, False),
        ("an item with it", 4, False),
        ("two", 1, False),
        ("a", 1, True),
        ("one", 1, True),
        ("two", 1, True),
    ]
