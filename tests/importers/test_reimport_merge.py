"""The merge of a design, clause by clause: what comes in, what stays, and what is a conflict."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolgen.codegen.write.staging import formatted
from toolgen.importers.reimport.merge import merge
from toolgen.importers.reimport.places import described
from toolgen.importers.reimport.source_text import UnreadableDesignError

BASE = """\
from toolgen.dsl import (
    Args, Attribute, BindTo, Design, GET, HTTP, Method, Service, String, Tool, Toolset, Type
)

Book = Type("Book", None, Attribute("genre", String, None, enum=("novel", "poem")))
shelf = Toolset(
    "shelf",
    "Books.",
    Tool("find", "Find a book.", Args(Book), BindTo("find")),
    Tool("lend", "Lend a book.", Args(Book), BindTo("lend")),
)
town = Service(
    "town",
    "Books.",
    Method("find", "Find", HTTP(GET("/books"))),
    Method("lend", "Lend", HTTP(GET("/loans"))),
    shelf,
)
design = Design("town", "Books.", town)
"""
Edit = tuple[str, str]
"""A text of the design, and what stands in its place."""


def merged(source: list[Edit], author: list[Edit]) -> tuple[str, list[str]]:
    """Return the design after both have changed it, and what is said of it."""
    base = formatted([BASE])[0]
    ours, theirs = _edited(base, author), formatted([_edited(base, source)])[0]
    done = merge(base, ours, theirs, formatted=formatted)
    again = merge(theirs, done.text, theirs, formatted=formatted)
    assert (again.text, again.changes) == (done.text, ())
    return done.text, [f"{change.kind}: {described(change.path)}" for change in done.changes]


def _edited(text: str, edits: list[Edit]) -> str:
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


LEND = '    Tool("lend", "Lend a book.", Args(Book), BindTo("lend")),\n'
BOOK = 'Book = Type("Book", None, Attribute("genre", String, None, enum=("novel", "poem")))\n'
LOAN = 'Loan = Type("Loan", None, Attribute("to", String, None))\n'
NEW_TOOL: Edit = ('BindTo("lend")),\n', 'BindTo("lend")),\n    Tool("sell", "Sell it.", BindTo("lend")),\n')
OWN_TOOL: Edit = ('BindTo("lend")),\n', 'BindTo("lend")),\n    Tool("sell", "Sell my way."),\n')
WITHOUT_LEND: list[Edit] = [
    (LEND, ""),
    ('    Method("lend", "Lend", HTTP(GET("/loans"))),\n', ""),
]
RENAMED_LEND: list[Edit] = [
    (
        'Tool("lend", "Lend a book.", Args(Book), BindTo("lend"))',
        'Tool("borrow", "Lend it.", BindTo("borrow"))',
    ),
    ('Method("lend", "Lend", HTTP', 'Method("borrow", "Borrow", HTTP'),
]


def _both(*texts: str) -> Callable[[str], bool]:
    return lambda text: all(each in text for each in texts)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("source", "author", "said", "holds"),
    [
        pytest.param(
            [('"poem"', '"poem", "play"')],
            [('"novel", "poem"', '"poem", "song"')],
            ["changed: the enum of Attribute 'genre' of 'Book'"],
            _both('enum=("poem", "play", "song")'),
            id="values of both are in an enumeration",
        ),
        pytest.param(
            [('Attribute("genre", String, None, enum=("novel", "poem"))', 'Attribute("isbn", String, None)')],
            [('Attribute("genre", String, None,', 'Attribute("genre", String, "What it is.",')],
            ["added: Attribute 'isbn' of 'Book'", "gone: Attribute 'genre' of 'Book'"],
            _both('"What it is."', '"isbn"'),
            id="an edited attribute stays beside a new one",
        ),
        pytest.param(
            [NEW_TOOL],
            [OWN_TOOL],
            ["conflict: Tool 'sell' of 'shelf'"],
            _both("Sell my way."),
            id="a tool of the author has the name of a new one",
        ),
        pytest.param([NEW_TOOL], [NEW_TOOL], [], _both("Sell it."), id="both have added the same"),
        pytest.param(
            [('"Lend a book."', '"Lend a book for a month."')],
            [(LEND, "")],
            ["declined: Tool 'lend' of 'shelf'"],
            lambda text: "month" not in text,
            id="what the author removed stays removed",
        ),
        pytest.param(
            WITHOUT_LEND,
            [("design = Design", 'own = Tool("mine", "Mine.", BindTo("town", "lend"))\ndesign = Design')],
            ["removed: Tool 'lend' of 'shelf'", "gone: Method 'lend' of 'town'"],
            _both('Method("lend"', "own ="),
            id="a method to which a tool of the author is bound stays",
        ),
        pytest.param(
            [
                (", Args(Book)", ""),
                ('Book = Type("Book", None, Attribute("genre", String, None, enum=("novel", "poem")))\n', ""),
            ],
            [("design = Design", "def kinds():\n    return Book\n\n\ndesign = Design")],
            [
                "gone: 'Book'",
                "removed: Args of Tool 'find' of 'shelf'",
                "removed: Args of Tool 'lend' of 'shelf'",
            ],
            _both("Book = Type("),
            id="a type that the author uses stays",
        ),
        pytest.param(
            WITHOUT_LEND,
            [('    Tool("lend"', '    # to members\n    Tool("lend"')],
            ["gone: Tool 'lend' of 'shelf'", "gone: Method 'lend' of 'town'"],
            _both('    # to members\n    Tool("lend"'),
            id="a comment above keeps a tool, and the tool its method",
        ),
        pytest.param(
            RENAMED_LEND,
            [('"Lend a book."', '"Lend to members."')],
            [
                "changed: the name of Tool 'lend' of 'shelf'",
                "conflict: the description of Tool 'lend' of 'shelf'",
                "removed: Args of Tool 'lend' of 'shelf'",
                "changed: the service of Tool 'lend' of 'shelf'",
                "changed: the name of Method 'lend' of 'town'",
                "changed: the description of Method 'lend' of 'town'",
            ],
            _both('Tool("borrow", "Lend to members.", BindTo("borrow"))', 'Method("borrow", "Borrow"'),
            id="an operation with another id is known by its request",
        ),
        pytest.param(
            [
                ('"Lend a book."', '"Lend a book for a month."'),
                ("Args(Book), BindTo", 'Args(Book, Attribute("to", String, None)), BindTo'),
            ],
            [('Tool("lend",', 'Tool("give",')],
            [
                "added: Attribute 'to' of Tool 'find' of 'shelf'",
                "changed: the description of Tool 'give' of 'shelf'",
                "added: Attribute 'to' of Tool 'give' of 'shelf'",
            ],
            _both('"give",', '"Lend a book for a month."'),
            id="a tool that the author renamed is known by its method",
        ),
        pytest.param(
            [
                ('Args(Book), BindTo("lend")', 'Args(Loan), BindTo("lend")'),
                ("\nBook =", '\nLoan = Type("Loan", None, Attribute("to", String, None))\nBook ='),
            ],
            [("town", "city"), ('"city"', '"town"')],
            [
                "added: 'Loan'",
                "added: 'Loan' of Tool 'lend' of 'shelf'",
                "removed: 'Book' of Tool 'lend' of 'shelf'",
            ],
            _both("Loan = Type(", "Args(Loan)", "city = Service(", 'Design("town", "Books.", city)'),
            id="a new type stands above its use, and a variable keeps the author's name",
        ),
        pytest.param(
            [('HTTP(GET("/loans"))', 'HTTP(GET("/loans/{id}"))')],
            [('HTTP(GET("/loans"))', 'HTTP(GET("/loans"), *extra())')],
            ["changed: the path of Method 'lend' of 'town'"],
            _both('HTTP(GET("/loans/{id}"), *extra())'),
            id="a request is merged beside what the author adds",
        ),
        pytest.param(
            [("None, enum", '"Its kind.", enum')],
            [("None, enum", "described(lambda a, b: a), enum")],
            ["conflict: the description of Attribute 'genre' of 'Book'"],
            _both("described(lambda a, b: a)"),
            id="an expression of the author is his",
        ),
        pytest.param(
            [('"Lend a book."', '"Lend it."'), NEW_TOOL],
            [
                (
                    '    Tool("lend", "Lend a book.", Args(Book), BindTo("lend")),\n)',
                    '    Tool("lend", "Lend a book.", Args(Book), BindTo("lend"))  # last\n)',
                )
            ],
            ["changed: the description of Tool 'lend' of 'shelf'", "added: Tool 'sell' of 'shelf'"],
            _both('BindTo("lend")),  # last\n    Tool("sell"'),
            id="a comment behind the last clause stays on its line",
        ),
    ],
)
def test_a_merge(
    source: list[Edit], author: list[Edit], said: list[str], holds: Callable[[str], bool]
) -> None:
    text, changes = merged(source, author)
    assert sorted(changes) == sorted(said)
    assert holds(text), text


def test_what_would_stand_above_what_it_needs_is_refused() -> None:
    base = formatted([BASE])[0]
    theirs = base.replace("Args(Book)", "Args(Loan)").replace("Book = ", 'Loan = Type("Loan", None)\nBook = ')
    theirs = theirs.replace('Type("Loan", None)', 'Type("Loan", None, Attribute("of", Book, None))')
    theirs = theirs.replace('Loan = Type("Loan", None, Attribute("of", Book, None))\n', "")
    theirs = theirs.replace("shelf = ", 'Loan = Type("Loan", None, Attribute("of", Book, None))\nshelf = ')
    start, end = base.index("Book = "), base.index("shelf = ")
    ours = base[:start] + base[end:].replace("Args(Book)", "Args(Attribute('a', String, None))")
    ours = ours.replace("design = ", f"{base[start:end]}design = ").replace("Books.", "Many.")
    with pytest.raises(UnreadableDesignError, match="has 'Loan' above 'Book', which it needs; move it below"):
        merge(base, ours, theirs.replace('"Lend a book."', '"Lend it."'), formatted=formatted)
