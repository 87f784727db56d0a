"""A document that changes while its design is edited: what is merged, what is said, and what stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.importers.evolving_api import VERSIONS
from tests.importers.library_folder import DESIGN, LOCK, Library
from tests.importers.library_folder import library as library

from ..findings import findings_in

HOOK = """
def log(call: object) -> None:
    \"\"\"Log a call.\"\"\"
    print(call)  # a hook


desk = d.Toolset("desk", "The desk.", d.Tool("shelve", "Shelve a book.", d.BindTo("library", "lend_book")))

design = d.Design("library", "Books of the town.", library_service, desk_service)
"""
OWN = 'desk_service = d.Service("desk", "The desk.", desk)'
FOLLOWED = {
    2: ["added: Attribute 'isbn' of 'Book'"],
    3: [
        "added: an item of 'Genre'",
        "added: 'Author'",
        "added: 'people'",
        "added: Method 'list_authors' of 'library_service'",
        "added: 'people' of 'library_service'",
    ],
    4: [
        "changed: the default of Attribute 'days' of 'Loan'",
        "changed: the description of Tool 'store' of 'books'",
        "changed: the default of Attribute 'limit' of Method 'find_books' of 'library_service'",
    ],
    5: [],
    6: [
        "removed: Tool 'count_books' of 'books'",
        "added: 'numbers'",
        "changed: the name of Method 'count_books' of 'library_service'",
        "changed: the description of Method 'count_books' of 'library_service'",
        "changed: the title of Attribute 'value' of Method 'count_books' of 'library_service'",
        "added: 'numbers' of 'library_service'",
    ],
}
STUCK = {
    2: [
        "the description of Tool 'find_books' of 'books' was edited here, and the source changed it to: "
        '"Find books by a word of their title."'
    ],
    5: [
        "the source no longer has 'Loan', which was edited or is used here",
        "the source no longer has Tool 'lend_book' of 'books', which was edited or is used here",
        "the source no longer has Method 'lend_book' of 'library_service', which was edited or is used here",
    ],
}


@pytest.mark.exhaustive
def test_an_author_edits_while_the_document_changes(library: Library) -> None:
    assert library.imported(1).code == 0
    library.edit(
        ('"Find books."', '"Search the shelves."'),
        ('    d.Tool("put_book",', '    # for librarians alone\n    d.Tool("store",'),
        ('d.Tool("lend_book", "Lend a book to a reader.",', 'd.Tool("lend_book", "Lend it.",  # ask first\n'),
        (
            '\ndesign = d.Design("library", "Library", library_service)\n',
            HOOK.replace("\ndesign", f"{OWN}\n\ndesign"),
        ),
    )
    written = library.design
    for version in range(2, VERSIONS + 1):
        library.publish(version)
        checked = library.run("--check")
        assert (checked.code, library.design) == (1, written)
        done = library.run()
        assert [line for line in done.err.splitlines() if "_design.py" in line] == [
            *(line for line in done.err.splitlines() if "error" in line),
            *(line for line in done.err.splitlines() if line.startswith(DESIGN) and "error" not in line),
        ]
        told = [line.split(": ", 1)[1] for line in done.err.splitlines() if line.startswith(DESIGN)]
        stuck = [line.removeprefix("error: ").partition(" [")[0] for line in told if "error: " in line]
        assert (stuck, [line for line in told if "error: " not in line]) == (
            STUCK.get(version, []),
            FOLLOWED[version],
        )
        assert done.code == bool(stuck)
        written = library.design
        for edit in ("Search the shelves.", "# for librarians alone", "# ask first", "# a hook", OWN):
            assert edit in written
        again = library.state()
        code = 1 if version == 5 else 0  # what is gone is reported until it is resolved
        assert (library.run("--check").code, library.run().code, library.state()) == (code, code, again)
        if code:
            places = ["Loan", "books/lend_book", "library_service/lend_book"]
            assert library.command(*(part for each in places for part in ("--resolve", each))).code == 0
    design = library.built()
    assert [tool.name for tool in design.services[0].toolsets[0].tools] == [
        "store",
        "find_books",
        "lend_book",
    ]
    assert [toolset.name for toolset in design.services[0].toolsets] == ["books", "people", "numbers"]
    assert "Keep a book under its number." in written


@pytest.mark.exhaustive
def test_a_design_that_nobody_edited_is_a_new_import(library: Library, tmp_path: Path) -> None:
    library.imported(1)
    for version in (3, VERSIONS, 1):
        library.publish(version)
        assert library.run().code == 0
        followed = library.state()
        assert library.imported(version, "--force").code == 0
        assert library.state() == followed


@pytest.mark.exhaustive
def test_options_of_the_first_import_count_until_others_are_given(library: Library) -> None:
    library.imported(1, "--only", "*_books", "--rename", "find_books=search", "--name", "library")
    assert '"search", "Find books.", d.BindTo("search")' in library.design
    library.publish(2)
    assert library.run().code == 0
    assert "put_book" not in library.design
    assert '"Find books by a word of their title."' in library.design
    assert library.run("--only", "*_book*").code == 0
    assert 'd.Tool("put_book"' in library.design
    assert 'http.Server("https://books.example")' in library.design


@pytest.mark.exhaustive
def test_a_design_of_the_author_stays_in_his_layout(library: Library) -> None:
    library.imported(1)
    mark, ends = "\ufeff", "\r\n"
    text = library.design.replace("    ", "  ").replace("library_service", "town").replace("\n", ends)
    Path(DESIGN).write_bytes((mark + text).encode())
    library.publish(2)
    assert library.run().code == 0
    after = Path(DESIGN).read_bytes().decode()
    assert after.startswith(mark)
    assert "\n" not in after.replace(ends, "")
    lines = text.split(ends)
    assert [line for line in after.removeprefix(mark).split(ends) if line not in lines] == [
        '  d.Attribute("isbn", d.Nullable(d.String), None),',
        '  d.Tool("find_books", "Find books by a word of their title.", d.BindTo("find_books")),',
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("library = (", "library_design.py:1: does not parse: '(' was never closed"),
        ("a = 1\rb = 2\n", "library_design.py:1: has mixed line endings"),
        ("# coding: latin-1\n", "library_design.py:1: is not UTF-8"),
    ],
)
def test_what_cannot_be_parsed_is_refused(library: Library, broken: str, message: str) -> None:
    library.imported(1)
    library.publish(2)
    Path(DESIGN).write_text(broken, "utf-8", newline="")
    before = library.state()
    done = library.run()
    assert (done.code, library.state()) == (2, before)
    assert message in done.err


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{}", "is not a lock file of toolgen import"),
        ('{"lock": 1, "kind": "mcp-server"}', "is not a lock file of toolgen import"),
        ('{"format": "toolgen-import-4"}', "is a lock file of an earlier toolgen"),
    ],
)
def test_a_lock_that_is_none_is_refused(library: Library, text: str, fault: str) -> None:
    library.imported(1)
    Path(LOCK).write_text(text, "utf-8")
    done = library.run()
    assert done.code == 2
    assert f"error: {LOCK} {fault}" in done.err
    library.imported(1, "--force")
    lock = json.loads(Path(LOCK).read_text("utf-8"))
    Path(LOCK).write_text(json.dumps({**lock, "module": ["a ="]}), "utf-8")
    done = library.run()
    assert (done.code, "has a lock file whose design does not parse; nothing" in done.err) == (2, True)
    assert library.imported(1, "--force").code == 0
    assert library.run().code == 0


def test_a_design_without_a_lock_is_not_overwritten(library: Library) -> None:
    library.imported(1)
    Path(LOCK).unlink()
    for option in ((), ("--check",)):
        done = library.imported(1, *option)
        assert done.code == 2
        assert f"the lock of its import, {LOCK}, is missing; nothing was written" in done.err
        assert "hint: restore the lock from version control" in done.err


BROKEN = {
    2: (
        "put_book: argument 'body.isbn' is narrower: the new schema accepts null or string, but not array or "
        "boolean or number or object. Breaks callers, suspended calls."
    ),
    3: (
        "put_book: field 'genre' of the result can have values that it could not have: the old schema does "
        "not accept 'play'. Shown by"
    ),
    4: "lend_book: the default of 'body.days' changed from 14 to 28. Changes the behaviour for callers.",
    5: "lend_book: the tool was removed. Breaks callers, suspended calls, generated code.",
}


@pytest.mark.exhaustive
def test_an_import_says_whom_the_new_version_breaks(library: Library) -> None:
    library.imported(1)
    for version, sentence in BROKEN.items():
        library.publish(version)
        if version == 2:
            assert sentence in library.run("--check").err
        assert sentence in library.run("--allow-losses").err
    assert "for users of" not in library.run("--check").err


@pytest.mark.exhaustive
def test_what_cannot_be_compared_is_said(library: Library) -> None:
    library.imported(1)
    lock = json.loads(Path(LOCK).read_text("utf-8"))
    Path(LOCK).write_text(json.dumps({**lock, "module": [*lock["module"], "raise OSError"]}), "utf-8")
    library.publish(2)
    assert "the changes cannot be compared" in library.run("--check").err


@pytest.mark.exhaustive
def test_programs_get_findings(library: Library) -> None:
    library.imported(1)
    library.edit(('"Find books."', '"Search."'))
    library.publish(2)
    before = library.design.splitlines()
    done = library.run("--check", "--format", "json")
    found = findings_in(done.out)
    assert [(one["code"], one.get("tool")) for one in found] == [
        ("import-updated", None),
        ("import-conflict", "find_books"),
    ]
    assert [
        next(name for name in ("Book", "find_books") if name in before[one["line"] - 1]) for one in found
    ] == ["Book", "find_books"]
    assert library.run("--strict").code == 1
    assert library.design.splitlines() == before
    assert library.run("--allow-losses").code == 0
