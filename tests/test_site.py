"""The index of the documents, from which the navigation of their site is made."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests import site
from tests.surface import public_modules


def paths(entries: list[dict[str, object]]) -> list[str]:
    """Return the pages of a navigation, in order."""
    found = list[str]()
    for entry in entries:
        for value in entry.values():
            found += [value] if isinstance(value, str) else paths(value)  # type: ignore[arg-type] # nested
    return found


def test_every_document_stands_in_the_index_once() -> None:
    named = paths(site.navigation())
    documents = {f"docs/{file.name}" for file in (site.ROOT / "docs").glob("*.md")}
    assert len(named) == len(set(named))
    assert documents == {path for path in named if path.startswith("docs/") and "/api/" not in path}


def test_pictures_are_small_suit_dark_pages_and_load_nothing() -> None:
    for name in ("generated", "call", "suspended-call", "sensitive-values"):
        picture = (site.ROOT / f"docs/pictures/{name}.svg").read_text("utf-8")
        assert len(picture.encode()) < 6_000
        assert "(prefers-color-scheme: dark)" in picture
        assert 'aria-label="' in picture
        assert picture.count("http") == 1  # the namespace of SVG


def test_every_public_module_has_a_page_with_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "SITE", tmp_path)
    monkeypatch.setattr(site, "PAGES", tmp_path / "pages")
    site.write()
    settings = tomllib.loads((tmp_path / "zensical.toml").read_text("utf-8"))
    assert all((tmp_path / "pages" / path).exists() for path in paths(settings["project"]["nav"]))
    theme = settings["project"]["theme"]
    assert [each.get("scheme") for each in theme["palette"]] == [None, "default", "slate"]
    assert theme["font"] is False  # nothing is loaded from elsewhere
    assert len(site.documented()) == len(public_modules()) - 1
    page = (tmp_path / "pages/docs/api/dsl.md").read_text("utf-8")
    assert "      - Attribute\n" in page
    assert "::: toolgen.dsl.evaluation.build.build\n" in page  # a module has the name of the function
