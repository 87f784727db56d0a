"""The merge of a design, clause by clause: what comes in, what stays, and what is a conflict."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from toolgen.codegen.write.staging import formatted
from toolgen.importers.reimport.merge import merge
from toolgen.importers.reimport.places import described
from toolgen.importers.reimport.source_text import UnreadableDesignError

BASE = """\
from toolgen import dsl as d
from toolgen.dsl import http

Book = d.Type("Book", None, d.Attribute("genre", d.String, None, enum=("novel", "poem")))
shelf = d.Toolset(
    "shelf",
    "Books.",
    d.Tool("find", "Find a book.", d.Args(Book), d.BindTo("find")),
    d.Tool("lend", "Lend a book.", d.Args(Book), d.BindTo("lend")),
)
town = d.Service(
    "town",
    "Books.",
    d.Method("find", "Find", http.HTTP(http.GET("/books"))),
    d.Method("lend", "Lend", http.HTTP(http.GET("/loans"))),
    shelf,
)
design = d.Design("town", "Books.", town)
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


LEND = '    d.Tool("lend", "Lend a book.", d.Args(Book), d.BindTo("lend")),\n'
BOOK = 'Book = d.Type("Book", None, d.Attribute("genre", d.String, None, enum=("novel", "poem")))\n'
LOAN = 'Loan = d.Type("Loan", None, d.Attribute("to", d.String, None))\n'
NEW_TOOL: Edit = (
    'd.BindTo("lend")),\n',
    'd.BindTo("lend")),\n    d.Tool("sell", "Sell it.", d.BindTo("lend")),\n',
)
OWN_TOOL: Edit = ('d.BindTo("lend")),\n', 'd.BindTo("lend")),\n    d.Tool("sell", "Sell my way."),\n')
WITHOUT_LEND: list[Edit] = [
    (LEND, ""),
    ('    d.Method("lend", "Lend", http.HTTP(http.GET("/loans"))),\n', ""),
]
RENAMED_LEND: list[Edit] = [
    (
        'd.Tool("lend", "Lend a book.", d.Args(Book), d.BindTo("lend"))',
        'd.Tool("borrow", "Lend it.", d.BindTo("borrow"))',
    ),
    ('d.Method("lend", "Lend", http.HTTP', 'd.Method("borrow", "Borrow", http.HTTP'),
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
            [
                (
                    'd.Attribute("genre", d.String, None, enum=("novel", "poem"))',
                    'd.Attribute("isbn", d.String, None)',
                )
            ],
            [('d.Attribute("genre", d.String, None,', 'd.Attribute("genre", d.String, "What it is.",')],
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
            [
                (
                    "design = d.Design",
                    'own = d.Tool("mine", "Mine.", d.BindTo("town", "lend"))\ndesign = d.Design',
                )
            ],
            ["removed: Tool 'lend' of 'shelf'", "gone: Method 'lend' of 'town'"],
            _both('d.Method("lend"', "own ="),
            id="a method to which a tool of the author is bound stays",
        ),
        pytest.param(
            [
                (", d.Args(Book)", ""),
                (BOOK, ""),
            ],
            [("design = d.Design", "def kinds():\n    return Book\n\n\ndesign = d.Design")],
            [
                "gone: 'Book'",
                "removed: Args of Tool 'find' of 'shelf'",
                "removed: Args of Tool 'lend' of 'shelf'",
            ],
            _both("Book = d.Type("),
            id="a type that the author uses stays",
        ),
        pytest.param(
            WITHOUT_LEND,
            [('    d.Tool("lend"', '    # to members\n    d.Tool("lend"')],
            ["gone: Tool 'lend' of 'shelf'", "gone: Method 'lend' of 'town'"],
            _both('    # to members\n    d.Tool("lend"'),
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
            _both('d.Tool("borrow", "Lend to members.", d.BindTo("borrow"))', 'd.Method("borrow", "Borrow"'),
            id="an operation with another id is known by its request",
        ),
        pytest.param(
            [
                ('"Lend a book."', '"Lend a book for a month."'),
                ("d.Args(Book), d.BindTo", 'd.Args(Book, d.Attribute("to", d.String, None)), d.BindTo'),
            ],
            [('d.Tool("lend",', 'd.Tool("give",')],
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
                ('d.Args(Book), d.BindTo("lend")', 'd.Args(Loan), d.BindTo("lend")'),
                ("\nBook =", '\nLoan = d.Type("Loan", None, d.Attribute("to", d.String, None))\nBook ='),
            ],
            [("town", "city"), ('"city"', '"town"')],
            [
                "added: 'Loan'",
                "added: 'Loan' of Tool 'lend' of 'shelf'",
                "removed: 'Book' of Tool 'lend' of 'shelf'",
            ],
            _both("Loan = d.Type(", "d.Args(Loan)", "city = d.Service(", 'd.Design("town", "Books.", city)'),
            id="a new type stands above its use, and a variable keeps the author's name",
        ),
        pytest.param(
            [('http.HTTP(http.GET("/loans"))', 'http.HTTP(http.GET("/loans/{id}"))')],
            [('http.HTTP(http.GET("/loans"))', 'http.HTTP(http.GET("/loans"), *extra())')],
            ["changed: the path of Method 'lend' of 'town'"],
            _both('http.HTTP(http.GET("/loans/{id}"), *extra())'),
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
                    '    d.Tool("lend", "Lend a book.", d.Args(Book), d.BindTo("lend")),\n)',
                    '    d.Tool("lend", "Lend a book.", d.Args(Book), d.BindTo("lend"))  # last\n)',
                )
            ],
            ["changed: the description of Tool 'lend' of 'shelf'", "added: Tool 'sell' of 'shelf'"],
            _both('d.BindTo("lend")),  # last\n    d.Tool("sell"'),
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
    theirs = base.replace("d.Args(Book)", "d.Args(Loan)").replace(
        "Book = ", 'Loan = d.Type("Loan", None)\nBook = '
    )
    theirs = theirs.replace('d.Type("Loan", None)', 'd.Type("Loan", None, d.Attribute("of", Book, None))')
    theirs = theirs.replace('Loan = d.Type("Loan", None, d.Attribute("of", Book, None))\n', "")
    theirs = theirs.replace(
        "shelf = ", 'Loan = d.Type("Loan", None, d.Attribute("of", Book, None))\nshelf = '
    )
    start, end = base.index("Book = "), base.index("shelf = ")
    ours = base[:start] + base[end:].replace("d.Args(Book)", "d.Args(d.Attribute('a', d.String, None))")
    ours = ours.replace("design = ", f"# mine\n{base[start:end]}design = ").replace("Books.", "Many.")
    with pytest.raises(
        UnreadableDesignError, match="has 'shelf' above 'Book', which it now uses; move 'Book' above"
    ):
        merge(base, ours, theirs.replace('"Lend a book."', '"Lend it."'), formatted=formatted)


METHODS = (
    '    d.Method("find", "Find", http.HTTP(http.GET("/books"))),\n'
    '    d.Method("lend", "Lend", http.HTTP(http.GET("/loans"))),\n'
)
WITHOUT_METHODS: list[Edit] = [
    (METHODS, ""),
    (', d.BindTo("find")', ""),
    (', d.BindTo("lend")', ""),
    ("from toolgen.dsl import http\n", ""),
]
DATED: list[Edit] = [
    ("from toolgen import dsl", "import datetime as dt\n\nfrom toolgen import dsl"),
    ('enum=("novel", "poem")', "examples=(dt.timedelta(1),)"),
]
OWN_NAMES: list[Edit] = [
    ("from toolgen import dsl as d\n", "from toolgen.dsl import *\n"),
    ("d.", ""),
]


@pytest.mark.parametrize(
    ("before", "after", "author", "imports"),
    [
        pytest.param([], WITHOUT_METHODS, [], ["from toolgen import dsl as d"], id="the last one goes"),
        pytest.param(
            WITHOUT_METHODS,
            [],
            [("\nBook", "\nimport os\n\nROOT = os.sep\nBook")],
            ["from toolgen import dsl as d", "from toolgen.dsl import http", "import os"],
            id="the first one comes",
        ),
        pytest.param(
            WITHOUT_METHODS,
            [],
            [
                ('Book = d.Type("Book", None', 'Book = d.Type("Book", http.__doc__'),
                ("dsl as d\n", "dsl as d\nimport toolgen.dsl.http as http\n"),
            ],
            ["from toolgen import dsl as d", "import toolgen.dsl.http as http"],
            id="the author has it",
        ),
        pytest.param(
            [],
            DATED,
            [("from toolgen import dsl as d", "from toolgen import dsl as d  # the language")],
            ["import datetime as dt", "from toolgen import dsl as d", "from toolgen.dsl import http"],
            id="above a comment",
        ),
        pytest.param(
            WITHOUT_METHODS,
            [*WITHOUT_METHODS, ('    d.Tool("lend"', '    d.Tool("sell", "Sell it."),\n    d.Tool("lend"')],
            OWN_NAMES,
            ["from toolgen.dsl import *", "from toolgen import dsl as d"],
            id="the author has names of his own",
        ),
    ],
)
def test_imports_come_and_go_with_their_clauses(
    before: list[Edit], after: list[Edit], author: list[Edit], imports: list[str]
) -> None:
    base, theirs = (formatted([_edited(BASE, edits)])[0] for edits in (before, after))
    done = merge(base, _edited(base, author), theirs, formatted=formatted)
    lines = map(ast.unparse, ast.parse(done.text).body)
    assert [line for line in lines if line.startswith(("from ", "import "))] == imports
    assert not [change for change in done.changes if change.kind in ("conflict", "gone")]


@pytest.mark.parametrize("own", ['http = "https://books.example"', "import http", "import os as http"])
def test_what_is_new_does_not_read_a_name_of_the_author(own: str) -> None:
    """An import cannot be added under a name that the module uses for something else."""
    base = formatted([_edited(BASE, WITHOUT_METHODS)])[0]
    ours = base.replace("\nBook", f"\n{own}\nBook")
    with pytest.raises(UnreadableDesignError, match="defines 'http', but the new clauses need"):
        merge(base, ours, formatted([BASE])[0], formatted=formatted)


def test_a_clause_is_known_by_its_whole_name() -> None:
    base = formatted([BASE])[0]
    ours = base.replace("dsl as d\n", "dsl as d\nimport toolgen.dsl\n").replace(
        "d.Tool(", "toolgen.dsl.Tool("
    )
    done = merge(base, ours, base.replace("Lend a book.", "Lend it."), formatted=formatted)
    assert done.text == ours.replace("Lend a book.", "Lend it.")
