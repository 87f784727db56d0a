"""Random designs in words: every kind of type, and names and texts that are hard to print."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st

from toolgen import dsl
from toolgen.shapes.naming import class_name, field_name

DAY = dt.date(2026, 1, 31)
WEEK = dt.timedelta(days=7)
Draw = Any
"""What hypothesis hands to a composite strategy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A type as a word, and the values that may stand in a document of it."""

    word: Any
    values: st.SearchStrategy[Any] | None
    """None where no value is drawn for it."""


KEYS = """
id name class None True async match self cls payload value result ctx key item data model_config model_fields
model_dump model_ schema json copy dict list int str float bool bytes type object dt super property register
construct validate mro result_bounds field 1st 2 _private __dunder__ __class__ __init__ __slots__ __hash__
fooBar foo-bar FOO $id @x é über 名前 😀 a.b a/b ~ "quoted" 'q' back\\slash {brace} {{x}} {%if%} Any Annotated
Field Literal ToolModel UUID shared_types types given transforms
""".split()
TYPES = """
Node Item List Dict Any Field Literal Annotated ToolModel UUID Decimal Url Email Nullable Bounds Injected
JsonValue AnyJson dt datetime type str int object Payload Result Self BaseModel Protocol abstractmethod A
HTTPServer T1 snake_case Exception Warning
""".split()
TOOLS = """
get list import class type self cls payload ctx registration types codecs specs transforms executor calls
annotations dict set id json call a1 a_1 x_ y__z none true async match item result given field
""".split()
TOOLSETS = "tools devices types codecs class import self specs x_1 toolsets annotations service dict".split()
SERVICES = "assistant DeviceService HTTPGate Lambda gen toolsets Store service typing pydantic X1".split()

TEXTS = (
    "A plain text.",
    'Says "hello".',
    '"',
    "'",
    '"""',
    'Ends in a quote"',
    "'''",
    "back\\slash",
    "\\",
    "Ends in \\",
    '\\"""',
    "\\N{BULLET} \\x00 \\u12 \\",
    "Two\nlines.",
    "Indented:\n    code\n\n  done",
    "tab\there",
    "carriage\r\nreturn",
    "form\x0cfeed \x0b vertical \x85 nel \u2028 line \u2029 paragraph",
    "{braces} {{ x }} {% raw %} {# note #} %s %(a)s $x",
    "{{ view.docstring }}{% include 'header.jinja' %}",
    "\u202eright to left \u05d0\u05d1",
    "emoji 😀👩‍👩‍👧 and \ufeff bom",
    "bell \x07 nul \x00 escape \x1b[31m",
    "# no comment",
    "x" * 300,
    "noqa: E501 # type: ignore",
)

texts = st.sampled_from(TEXTS) | st.text(min_size=1, max_size=12).filter(str.strip)
keys = st.sampled_from(KEYS)


def scalars() -> st.SearchStrategy[Drawn]:
    return st.sampled_from(
        [
            Drawn(word=dsl.String, values=texts),
            Drawn(word=dsl.String(min_length=1, max_length=3), values=st.sampled_from(["a", "é😀", "\\\"'"])),
            Drawn(word=dsl.String(pattern=r"^[\w-]+\s?[^;]$"), values=st.sampled_from(["ab", "a b"])),
            Drawn(word=dsl.String(pattern=r'"\\\{\{'), values=st.just('"\\{{')),
            Drawn(word=dsl.String(format="email"), values=st.just("ann@example.org")),
            Drawn(word=dsl.String(format="hostname"), values=st.just("example.org")),
            Drawn(word=dsl.String(format="ipv4"), values=st.just("10.0.0.1")),
            Drawn(word=dsl.String(format="ipv6", max_length=10), values=st.just("fe80::1")),
            Drawn(
                word=dsl.String(enum=["a", 'b"', "c\\", "{{", "d\n"]),
                values=st.sampled_from(["a", "c\\", "d\n"]),
            ),
            Drawn(word=dsl.Int, values=st.integers()),
            Drawn(word=dsl.Int(minimum=-1, maximum=10**20), values=st.just(0)),
            Drawn(word=dsl.Int(exclusive_minimum=0, multiple_of=5), values=st.just(5)),
            Drawn(word=dsl.Int(enum=[1, -2]), values=st.just(-2)),
            Drawn(word=dsl.Float, values=st.integers() | st.floats(allow_nan=False, allow_infinity=False)),
            Drawn(word=dsl.Float(minimum=0, exclusive_maximum=1.5), values=st.sampled_from([0, 1, 1.25])),
            Drawn(word=dsl.Float(maximum=2**53 + 1), values=st.sampled_from([2**53 + 1, 0.5, -(10**30)])),
            Drawn(word=dsl.Float(multiple_of=0.1), values=st.sampled_from([0.3, 1])),
            Drawn(word=dsl.Boolean, values=st.booleans()),
            Drawn(word=dsl.Bytes, values=st.binary(max_size=4)),
            Drawn(word=dsl.Date, values=st.dates()),
            Drawn(
                word=dsl.DateTime,
                values=st.datetimes(
                    min_value=dt.datetime(2, 1, 1),  # noqa: DTZ001  # the zone comes beside it
                    max_value=dt.datetime(9998, 1, 1),  # noqa: DTZ001
                    timezones=st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(hours=-5, minutes=-30))]),
                ),
            ),
            Drawn(
                word=dsl.Duration,
                values=st.timedeltas(min_value=dt.timedelta(-9999), max_value=dt.timedelta(9999)),
            ),
            Drawn(word=dsl.Date(minimum=DAY), values=st.dates(min_value=DAY)),
            Drawn(
                word=dsl.DateTime(exclusive_maximum=dt.datetime(2026, 2, 1, tzinfo=dt.UTC)),
                values=st.just(dt.datetime(2026, 1, 31, tzinfo=dt.timezone(dt.timedelta(hours=-5)))),
            ),
            Drawn(word=dsl.Duration(exclusive_minimum=-WEEK), values=st.sampled_from([-WEEK / 2, WEEK])),
            Drawn(word=dsl.Decimal(minimum=Decimal("0.1")), values=st.just(Decimal("0.100"))),
            Drawn(word=dsl.Duration(multiple_of=WEEK), values=st.sampled_from([-WEEK, WEEK * 0])),
            Drawn(word=dsl.Decimal(multiple_of=Decimal("0.05")), values=st.just(Decimal("-0.150"))),
            Drawn(word=dsl.Uuid, values=st.uuids()),
            Drawn(word=dsl.Url, values=st.just("https://example.org/?q='a'#b")),
            Drawn(word=dsl.Decimal, values=st.decimals(allow_nan=False, allow_infinity=False, places=3)),
            Drawn(word=dsl.Any, values=st.sampled_from([None, 1, [], {}, {"a": [None, 2.5]}, "x"])),
        ]
    )


@st.composite
def types(
    draw: Draw, named: Sequence[Drawn], later: Sequence[str], depth: int = 2, *, may_open: bool = True
) -> Drawn:
    """Return a type; those of `later` are named only where a document may end.

    `may_open` says whether an object that has a class of its own here may be open.
    """
    choices = ["scalar", "scalar", "named"]
    if depth:
        choices += ["array", "map", "nullable", "object", "union"]
    match draw(st.sampled_from(choices)):
        case "named" if named:
            return draw(st.sampled_from(named))  # type: ignore[no-any-return]  # hypothesis' draw
        case "array":
            inner = draw(types([*named, *_ahead(later)], later, depth - 1, may_open=may_open))
            lengths = draw(st.sampled_from([{}, {"max_length": 3}, {"unique_items": True}]))
            most = 1 if "unique_items" in lengths else 2
            lists = None if inner.values is None else st.lists(inner.values, max_size=most)
            return Drawn(word=dsl.ArrayOf(inner.word, **lengths), values=lists)
        case "map":
            inner = draw(types([*named, *_ahead(later)], later, depth - 1, may_open=may_open))
            key = draw(st.sampled_from([dsl.String, dsl.String(pattern="^[a-z]+$", max_length=3)]))
            of_keys = st.sampled_from(["a", "xyz"])
            maps = None if inner.values is None else st.dictionaries(of_keys, inner.values, max_size=2)
            return Drawn(word=dsl.MapOf(key, inner.word), values=maps)
        case "nullable":
            inner_types = types([*named, *_ahead(later)], later, depth - 1, may_open=may_open)
            inner = draw(inner_types.filter(_may_be_nullable))
            return Drawn(
                word=dsl.Nullable(inner.word),
                values=None if inner.values is None else st.none() | inner.values,
            )
        case "object":
            fields, values = draw(objects(named, later, depth - 1, may_open=may_open))
            is_open, values = draw(opened(fields, values, may_open=may_open))
            return Drawn(word=dsl.Object(*fields, open=is_open), values=values)
        case "union":
            return draw(unions(named, later, depth - 1, may_open=may_open))  # type: ignore[no-any-return]  # as above
        case _:
            return draw(scalars())  # type: ignore[no-any-return]  # as above


def _ahead(later: Sequence[str]) -> list[Drawn]:
    return [Drawn(word=name, values=None) for name in later]


def _may_be_nullable(drawn: Drawn) -> bool:
    return not isinstance(drawn.word, dsl.Nullable) and drawn.word is not dsl.Any


@st.composite
def unions(
    draw: Draw,
    named: Sequence[Drawn],
    later: Sequence[str],
    depth: int,
    *,
    may_open: bool,
    name: str | None = None,
) -> Drawn:
    tag = draw(st.sampled_from(["kind", "the-tag", "type_of"]))
    words, values = {}, []
    for branch in draw(st.lists(keys, min_size=1, max_size=2, unique_by=class_name)):
        mine = [one for one in named if isinstance(one.word, dsl.Type) and (may_open or not one.word.open)]
        if mine and draw(st.booleans()):
            inner = draw(st.sampled_from(mine))
        else:
            fields, of = draw(objects(named, later, depth - 1 if depth else 0, may_open=may_open))
            is_open, of = draw(opened(fields, of, may_open=may_open))
            inner = Drawn(word=dsl.Object(*fields, open=is_open), values=of)
        words[branch] = inner.word
        if inner.values is not None:
            values.append(inner.values.map(lambda document, branch=branch: {tag: branch, **document}))
    return Drawn(
        word=dsl.OneOf(tag, name, **words), values=st.one_of(values) if len(values) == len(words) else None
    )


@st.composite
def objects(
    draw: Draw, named: Sequence[Drawn], later: Sequence[str], depth: int = 2, *, may_open: bool = True
) -> tuple[list[dsl.Attribute], st.SearchStrategy[Any] | None]:
    """Return attributes, and the documents that they allow where those can be drawn."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    is_known = True
    fields = []
    names = draw(st.lists(keys, max_size=3, unique_by=field_name))
    for name in names:
        kind = draw(st.sampled_from(["required", "optional", "default"]))
        may_be = [*named, *(() if kind == "required" else _ahead(later))]
        type_ = draw(types(may_be, later, depth, may_open=may_open))
        facts: dict[str, Any] = {}
        if kind == "default" and type_.values is not None:
            facts["default"] = draw(type_.values)
        if type_.values is not None and draw(st.integers(0, 4)) == 0:
            facts["examples"] = [draw(type_.values)]
        if draw(st.integers(0, 9)) == 0:
            facts |= {"title": draw(texts), "deprecated": True}
        fields.append(dsl.Attribute(name, type_.word, draw(texts), required=kind == "required", **facts))
        if type_.values is not None:
            (required if kind == "required" else optional)[name] = type_.values
        elif kind == "required":
            is_known = False
    return fields, st.fixed_dictionaries(required, optional=optional) if is_known else None


@st.composite
def opened(
    draw: Draw,
    fields: Sequence[dsl.Attribute],
    values: st.SearchStrategy[Any] | None,
    *,
    may_open: bool = True,
) -> tuple[bool, st.SearchStrategy[Any] | None]:
    """Return whether the object is open, and its documents, which have other keys then."""
    is_open = may_open and draw(st.integers(0, 2)) == 0
    if not is_open or values is None:
        return is_open, values
    names = {field.name for field in fields}
    free = st.sampled_from([key for key in (*KEYS, "foo_bar", "the_tag") if key not in names])
    others = st.dictionaries(free, st.sampled_from([None, 1, "x", {"a": [None, 2.5]}]), max_size=2)
    return True, st.tuples(others, values).map(lambda both: {**both[0], **both[1]})


@st.composite
def named_types(draw: Draw) -> list[Drawn]:
    """Return types, enums and unions; a type may refer to itself and to later ones."""
    names = draw(st.lists(st.sampled_from(TYPES), max_size=3, unique_by=class_name))
    found: list[Drawn] = []
    for index, name in enumerate(names):
        if draw(st.integers(0, 3)) == 0:
            values = draw(
                st.sampled_from([("on", "off"), (1, 2, 30), ("only",), ('"', "\\", "{{", "😀", "")])
            )
            found.append(Drawn(word=dsl.Enum(name, draw(texts), *values), values=st.sampled_from(values)))
        elif draw(st.integers(0, 3)) == 0:
            found.append(draw(unions(found, names[index:], 1, may_open=True, name=name)))
        else:
            fields, of = draw(objects(found, names[index:]))
            is_open, of = draw(opened(fields, of))
            found.append(Drawn(word=dsl.Type(name, draw(texts), *fields, open=is_open), values=of))
    return found


SESSION = dsl.Attribute("session_id", dsl.String, "Session.", required=True)
CURSOR = dsl.Attribute("cursor", dsl.String, "Where to go on.")
NEXT = dsl.Attribute("next-cursor", dsl.String, "Where the next page starts.")
ROWS = dsl.Attribute("rows", dsl.ArrayOf(dsl.String), "Rows.", required=True)
TOTAL = dsl.Attribute("total", dsl.Int, "All rows.", required=True)
HINT = dsl.Attribute("refinement_hint", dsl.String, "How to ask for less.")
SERIES = dsl.Object(dsl.Attribute("points", dsl.ArrayOf(dsl.Float), "Points."))


@st.composite
def tools(draw: Draw, named: Sequence[Drawn], name: str) -> dsl.Tool:
    """Return a tool that somebody implements by hand."""
    args, args_values = draw(objects(named, []))
    results, _ = draw(objects(named, []))
    is_open, _ = draw(opened(args, None))
    clauses: list[Any] = []
    if args_values is not None and draw(st.booleans()):
        clauses.append(dsl.Example(draw(args_values)))
    match draw(st.sampled_from(["", "", "session", "both"])):
        case "session":
            is_open = False
            clauses.append(dsl.Inject("session_id"))
            args = [*args, SESSION]
        case "both":
            is_open = False
            clauses.append(dsl.Inject("session_id", "tenant"))
            tenant = draw(types(named, []))
            args = [*args, SESSION, dsl.Attribute("tenant", tenant.word, draw(texts), required=True)]
        case _:
            pass
    match draw(st.sampled_from(["", "", "bounded", "paged"])):
        case "bounded":
            clauses.append(dsl.BoundedResult())
        case "paged":
            args, results = [*args, CURSOR], [*results, NEXT]
            clauses.append(dsl.BoundedResult(cursor="cursor", next_cursor="next-cursor"))
        case _:
            pass
    records = [one.word for one in named if isinstance(one.word, dsl.Type)]
    kinds = st.sampled_from(["data", "time_series", "class", "types"])
    for kind in draw(st.lists(kinds, max_size=2, unique=True)):
        clauses.append(dsl.Artifact(kind, draw(st.sampled_from([*records, SERIES])), draw(texts)))
    if draw(st.integers(0, 4)) == 0:
        meta = dsl.Meta(icon=draw(texts), order=[1, None, {"a": True}])
        clauses += [dsl.Tags(draw(texts), "b"), meta, dsl.Annotations(read_only=True, edit=False)]
    arguments, result = dsl.Args(*args, open=is_open), dsl.Return(*results, open=draw(st.booleans()))
    return dsl.Tool(name, draw(texts), arguments, result, *clauses)


@st.composite
def bound_tools(draw: Draw, named: Sequence[Drawn], name: str, service: str) -> tuple[dsl.Method, dsl.Tool]:
    """Return a method and a tool that it implements."""
    args, _ = draw(objects(named, [], may_open=False))
    results, _ = draw(objects(named, [], may_open=False))
    payload, seen, rename = list(args), list(args), {}
    clauses: list[Any] = []
    if draw(st.booleans()):
        payload, seen = [*payload, SESSION], [*seen, SESSION]
        clauses.append(dsl.Inject("session_id"))
    if draw(st.booleans()):
        site = draw(types(named, [], may_open=False))
        payload.append(dsl.Attribute("site", site.word, draw(texts), required=True))
        seen.append(dsl.Attribute("site-id", site.word, draw(texts), required=True))
        rename = {"site": "site-id"}
    if draw(st.booleans()):
        results = [*(one for one in results if not isinstance(one.type, dsl.ArrayOf)), ROWS, TOTAL, HINT]
        clauses.append(dsl.BoundedResult())
    given = dsl.Result(*results)
    if draw(st.booleans()):
        given = dsl.Result(
            *results, dsl.Attribute("series", SERIES, draw(texts), required=draw(st.booleans()))
        )
        clauses.append(dsl.Artifact("series", SERIES, draw(texts)))
    if draw(st.booleans()):
        clauses.append(dsl.Args(*(one for one in seen if one.required or draw(st.booleans()))))
    if draw(st.booleans()):
        clauses.append(dsl.Return(*results))
    taken = dsl.Payload(*payload, open=draw(st.booleans()))
    method = dsl.Method(name, draw(texts), taken, given)
    return method, dsl.Tool(name, draw(texts), dsl.BindTo(service, name, rename=rename), *clauses)


@st.composite
def designs(draw: Draw) -> dsl.Design:
    named = draw(named_types())
    services = []
    for service in draw(st.lists(st.sampled_from(SERVICES), min_size=1, max_size=2, unique=True)):
        methods: list[dsl.Method] = []
        toolsets: list[dsl.Toolset] = []
        for toolset in draw(st.lists(st.sampled_from(TOOLSETS), min_size=1, max_size=2, unique=True)):
            made: list[dsl.Tool] = []
            for tool in draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2, unique=True)):
                if draw(st.booleans()) or any(method.name == tool for method in methods):
                    made.append(draw(tools(named, tool)))
                else:
                    method, bound = draw(bound_tools(named, tool, service))
                    methods.append(method)
                    made.append(bound)
            prefix = f"{toolset}_" if draw(st.booleans()) else ""
            toolsets.append(dsl.Toolset(toolset, draw(texts), *made, prefix=prefix))
        services.append(dsl.Service(service, draw(texts), *methods, *toolsets))
    listed = [one.word for one in named if not isinstance(one.word, dsl.OneOf)]  # which is found by its use
    return dsl.Design("random", draw(texts), *services, *listed)
