"""A document that grows: each definition of the updated design is above the definitions that use it."""

from __future__ import annotations

import ast

import pytest

from tests.importers.growing_api import Components, growing_api
from tests.importers.library_folder import Library
from tests.importers.library_folder import library as library

BOOKS: Components = {"Book": [], "Reader": []}


@pytest.mark.parametrize("is_edited", [False, True], ids=["unedited", "edited"])
def test_a_new_component_comes_between_two_old_ones(library: Library, *, is_edited: bool) -> None:
    """The new `Loan` uses the second component of the design, and the first one uses `Loan`."""
    library.publish_document(growing_api(BOOKS, "Book", "Reader"))
    assert library.run().code == 0
    if is_edited:
        library.edit(('Reader = d.Type("Reader", None', 'Reader = d.Type("Reader", "A member."'))
    edited = _definition(library.design, "Reader")
    library.publish_document(
        growing_api({"Book": ["Loan"], "Reader": [], "Loan": ["Reader"]}, "Book", "Reader")
    )
    done = library.run()
    assert (done.code, _types(library.design)) == (0, ["Reader", "Loan", "Book"]), done.err
    assert _definition(library.design, "Reader") == edited
    assert {each.name for each in library.built().types} == {"Reader", "Loan", "Book"}
    assert library.run("--check").code == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("before", "now", "types"),
    [
        pytest.param(
            BOOKS,
            {"Book": ["Reader"], "Reader": []},
            ["Reader", "Book"],
            id="an old one uses the next",
        ),
        pytest.param(
            {"Book": [], "Genre": [], "Reader": []},
            {"Book": ["Loan"], "Genre": [], "Loan": ["Term"], "Term": ["Place"], "Place": [], "Reader": []},
            ["Place", "Term", "Loan", "Book", "Genre", "Reader"],
            id="a chain of new ones",
        ),
        pytest.param(
            {"Book": [], "Genre": [], "Reader": ["Card"], "Card": []},
            {"Book": ["Pass"], "Genre": [], "Reader": ["Pass"], "Pass": ["Genre"]},
            ["Genre", "Pass", "Book", "Reader"],
            id="a renamed one has a new user",
        ),
        pytest.param(
            {"Book": [], "Genre": [], "Reader": ["Book"]},
            {"Book": ["Loan"], "Genre": [], "Reader": ["Book"], "Loan": ["Reader", "Genre"]},
            ["Genre", "Reader", "Loan", "Book"],
            id="a circle with a new one",
        ),
    ],
)
@pytest.mark.parametrize("edited", [None, "Book", "Genre", "Reader"])
def test_a_grown_document(
    library: Library, before: Components, now: Components, types: list[str], edited: str | None
) -> None:
    used = [each for each in ("Book", "Genre", "Reader") if each in before]
    library.publish_document(growing_api(before, *used))
    assert library.run().code == 0
    library.write(f"# mine\n{library.design}")
    if edited in used:
        library.edit((f'"{edited}", None', f'"{edited}", "My words."'))
    library.publish_document(growing_api(now, *used))
    done = library.run()
    assert (done.code, sorted(_types(library.design))) == (0, sorted(types)), done.err
    if edited is None:
        assert _types(library.design) == types
    assert library.design.startswith("# mine\n")
    assert library.design.count("My words.") == (edited in used)
    library.built()
    state = library.state()
    assert (library.run().code, library.state()) == (0, state)


def test_statements_that_did_not_change_keep_their_text(library: Library) -> None:
    """A definition that moves keeps its own layout; comments and functions stay where they are."""
    library.publish_document(growing_api({**BOOKS, "Genre": []}, "Book", "Reader", "Genre"))
    library.run()
    laid_out = 'Reader = d.Type("Reader",\n  None, d.Attribute("id", d.String, None), open=True)'
    hook = "# Genres of novels.\n\n\ndef hook() -> None: ...  # mine\n\n\n"
    library.edit(
        (_definition(library.design, "Reader"), laid_out), ("\nGenre = d.Type", f"\n{hook}Genre = d.Type")
    )
    before = library.design
    library.publish_document(
        growing_api({"Book": ["Reader"], "Reader": [], "Genre": []}, "Book", "Reader", "Genre")
    )
    assert library.run().code == 0
    book = _definition(library.design, "Book")
    moved = before.replace(f"{laid_out}\n\n", "").replace(
        _definition(before, "Book"), f"{laid_out}\n\n{book}"
    )
    assert library.design == moved


def test_edited_definitions_keep_their_order(library: Library) -> None:
    """If only a move of edited definitions helps, the import names the move, and the next one succeeds."""
    library.publish_document(growing_api(BOOKS, "Book", "Reader"))
    library.run()
    library.edit(
        ('d.Type("Book", None', 'd.Type("Book", "A novel."'),
        ('d.Type("Reader", None', 'd.Type("Reader", "A member."'),
    )
    state = library.state()
    grown = growing_api({"Book": ["Loan"], "Reader": [], "Loan": ["Reader"]}, "Book", "Reader")
    library.publish_document(grown)
    done = library.run()
    assert done.code == 2
    assert "has 'Book' above 'Reader', which it now uses; move 'Reader' above 'Book'" in done.err
    assert library.design.encode() == state["library_design.py"]
    book, reader = (_definition(library.design, each) for each in ("Book", "Reader"))
    library.edit((f"{book}\n\n{reader}", f"{reader}\n\n{book}"))
    assert library.run().code == 0
    assert _types(library.design) == ["Reader", "Loan", "Book"]


def test_a_reference_of_the_author_and_a_new_one_make_a_circle(library: Library) -> None:
    library.publish_document(growing_api(BOOKS, "Book", "Reader"))
    library.run()
    own = 'd.Attribute("book", {}, "Lent book."), open=True)'
    reader = _definition(library.design, "Reader")
    library.edit((reader, reader.replace("open=True)", own.format("Book"))))
    library.publish_document(growing_api({"Book": ["Reader"], "Reader": []}, "Book", "Reader"))
    done = library.run()
    assert done.code == 2
    assert "has 'Book' and 'Reader', which now use each other; in one of them, write the name" in done.err
    library.edit((own.format("Book"), own.format('"Book"')))
    assert library.run().code == 0
    assert _types(library.design) == ["Reader", "Book"]
    library.built()


def test_a_new_reference_to_a_removed_definition_is_refused(library: Library) -> None:
    library.publish_document(
        growing_api({"Book": ["Genre"], "Genre": [], "Reader": []}, "Book", "Reader", "Genre")
    )
    library.run()
    design = library.design
    genre, book = (_definition(design, each) for each in ("Genre", "Book"))
    library.edit((f"{genre}\n\n", ""), (book, book.replace("Genre", "d.Any")))
    library.write(library.design.replace("Genre", "d.Any"))
    library.publish_document(
        growing_api({"Book": ["Genre"], "Genre": [], "Reader": ["Genre"]}, "Book", "Reader", "Genre")
    )
    done = library.run()
    assert done.code == 2
    assert "lacks 'Genre', which 'Reader' now uses; define it above" in done.err


def _types(design: str) -> list[str]:
    """Return the variables of the types, in the order of a design."""
    assigned = [each for each in ast.parse(design).body if isinstance(each, ast.Assign)]
    return [ast.unparse(each.targets[0]) for each in assigned if ".Type(" in ast.unparse(each)]


def _definition(design: str, name: str) -> str:
    """Return the text that defines a variable."""
    tree = ast.parse(design)
    node = next(
        each for each in tree.body if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name
    )
    return ast.get_source_segment(design, node) or ""
