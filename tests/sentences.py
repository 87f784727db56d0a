"""Measures sentences of documents: `python -m tests.sentences` prints long ones, and the mean of a document.

A sentence ends with its mark or its paragraph; code and a link count as the words that a reader sees. What
stands in a table is no sentence of the mean, and there a semicolon separates as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
"""Those that say how things are; the changelog and docs/designs say how they came to be."""
LONGEST = 40
"""The most words of a sentence."""
MEAN = 16
"""The most words of the sentences of all documents, on average."""

FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ITEM = re.compile(r"(?:[-*>]|\d+\.)\s+(.*)")
END = re.compile(r"(?<=[.!?])[)\"*_]*\s+(?=[A-Z\d\"(*_<]|code\b)")
CELL_END = re.compile(rf";\s+|{END.pattern}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it is read, with `code` in the place of code."""

    document: Path
    text: str
    in_table: bool

    @property
    def words(self) -> int:
        return len(re.findall(r"\S*\w\S*", self.text))


def sentences(document: Path) -> Iterator[Sentence]:
    """Yield the sentences of a document, in order; a heading is none."""
    text = LINK.sub(r"\1", CODE.sub("code", FENCE.sub("\n\n", document.read_text("utf-8"))))
    for unit, in_table in units(text):
        for sentence in (CELL_END if in_table else END).split(unit):
            if re.search(r"\w", sentence):
                yield Sentence(document, sentence.strip(), in_table)


def units(text: str) -> Iterator[tuple[str, bool]]:
    """Yield paragraphs, items of lists and cells of tables, and whether it is a cell."""
    lines = list[str]()
    for line in [*map(str.strip, text.splitlines()), ""]:
        item = ITEM.fullmatch(line)
        if lines and (not line or item or line.startswith(("#", "|"))):
            yield " ".join(lines), False
            lines = []
        if line.startswith("|"):
            yield from ((cell.strip(), True) for cell in line.strip("|").split("|"))
        elif line and not line.startswith("#"):
            lines.append(item[1] if item else line)


def too_long(document: Path) -> list[Sentence]:
    return [each for each in sentences(document) if each.words > LONGEST]


def mean(documents: list[Path]) -> float:
    """Return the words of a sentence on average, without tables."""
    counts = [each.words for file in documents for each in sentences(file) if not each.in_table]
    return sum(counts) / max(1, len(counts))


def main() -> None:
    for file in DOCUMENTS:
        print(f"{mean([file]):5.1f}  {file.relative_to(ROOT)}")
        for sentence in too_long(file):
            print(f"       {sentence.words} words: {sentence.text}")
    print(f"{mean(DOCUMENTS):5.1f}  all")


if __name__ == "__main__":
    main()
