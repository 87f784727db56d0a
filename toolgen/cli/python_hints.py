"""Hints for mistakes in a design that Python finds before toolgen can: a name, a call, an import."""

from __future__ import annotations

import difflib
import dis
import inspect
import io
import linecache
import re
import sys
import tokenize
from collections.abc import Iterator
from keyword import iskeyword
from types import FrameType
from typing import Final

from toolgen.contract.names import GENERATED
from toolgen.dsl.clause import Clause
from toolgen.dsl.evaluation.checks.argument_types import arguments_of
from toolgen.dsl.expr.source import Source
from toolgen.dsl.words import IMPORTS, PREFIXES, code_spelling, spelling, value_of
from toolgen.shapes import naming
from toolgen.shapes.constraints import CONSTRAINTS, LIMITS

_CALL: Final = re.compile(r"(\w+)\.__(?:init|call|new)__\(\) (.+)")
_KEYWORD: Final = re.compile(r"got an unexpected keyword argument '(\w+)'")
_MISCALLED: Final = re.compile(r"\w+\(\) (?:takes|missing|got an unexpected keyword argument) ")
_LACKING: Final = re.compile(
    r"cannot import name '(\w+)' from 'toolgen\.dsl|module 'toolgen\.dsl[.\w]*' has no attribute '(\w+)'"
)
_UNION: Final = re.compile(r"unsupported operand type\(s\) for \|: .*(?:Clause|Type|Enum|Of|Nullable)'")
_OF_OTHERS: Final = {
    **{
        row.error[0] + ("e" if row.error.endswith("equal") else "t"): f"did you mean {row.name!r}?"
        for row in LIMITS
        if "_than" in row.error  # for example `ge` of pydantic
    },
    **dict.fromkeys(("choices", "options", "values"), "did you mean 'enum'?"),
    "regex": "did you mean 'pattern'?",
    "optional": "remove it: an attribute without required=True may be absent",
    "nullable": "write the type as d.Nullable(…)",
}
"""Keywords of fields in other libraries, with their equivalents."""
_NAMES_OF_OTHERS: Final = {
    "Number": "Float", "Double": "Float", "Text": "String", "Str": "String", "List": "ArrayOf",
    "Array": "ArrayOf", "Dict": "MapOf", "Map": "MapOf", "Timestamp": "DateTime", "Json": "Any",
    "Optional": "Nullable", "Union": "OneOf", "Literal": "Enum", "Struct": "Object",
}  # fmt: skip
"""Names of types in other languages, with their equivalents."""
_MOST_KEYWORDS: Final = 3
"""Maximum number of keywords that a usage line shows."""
_LONGEST_TEXT: Final = 40
_VALUES: Final = {
    "OrderedWord": "datetime.date(…) or datetime.datetime(…)",
    "SteppedClause": 'decimal.Decimal("…") or datetime.timedelta(…)',
}
"""Code of values, by the class of types that authors might call to create a value."""
_SCHEMA_KEYWORDS: Final = {naming.snake(row.keyword): row.name for row in CONSTRAINTS}
"""Constraints by their JSON Schema keywords, written with underscores."""


def hint_for(error: BaseException, frame: FrameType | None, source: Source | None) -> str:
    """Return the hint for an exception; "" if there is none.

    `frame` and `source` are the last place in the author's files that the error went through.
    """
    match error:
        case ModuleNotFoundError():
            return f"correct the name, or install the module where toolgen runs, in {sys.prefix}"
        case ImportError() | AttributeError():
            if str(error).startswith("cannot import name 'http' from 'toolgen' "):
                return f"write {IMPORTS['http']}"
            match = _LACKING.match(str(error))
            return _of_word(match[1] or match[2], frame) if match else ""
        case SyntaxError():
            return _of_syntax(error)
        case NameError(name=str(name)):
            return _of_name(name, frame)
        case TypeError():
            return code_spelling(_of_call(str(error), source)) or _of_host_call(str(error), frame, source)
        case _:
            return ""


def _of_name(name: str, frame: FrameType | None) -> str:
    if name in IMPORTS:
        return f"add the import: {IMPORTS[name]}"
    if frame and name not in PREFIXES and _is_set_in(frame, name):
        return f"define it above; a Type of this design may also be named in quotes: {name!r}"
    return _of_word(name, frame) or "define it above, or import it"


def _of_word(name: str, frame: FrameType | None) -> str:
    """Return how to write the word of the design language that is meant by a name; "" if there is none."""
    visible = {*frame.f_locals, *frame.f_globals} if frame else set[str]()
    same = [word for word in PREFIXES if word.lower() == name.lower()]
    near = next(iter(same), _closest(name, [*sorted(visible), *PREFIXES]))
    near = _NAMES_OF_OTHERS.get(name, near)
    if not near or near in visible:
        return f"write {near}" if near else ""
    prefix = PREFIXES[near]
    return f"write {spelling(near)}{'' if prefix in visible else f', and add: {IMPORTS[prefix]}'}"


def _is_set_in(frame: FrameType, name: str) -> bool:
    """Return whether the module assigns the name, after the line that uses it."""
    code = frame.f_code
    return code.co_name == "<module>" and any(
        step.opname == "STORE_NAME" and step.argval == name for step in dis.get_instructions(code)
    )


def _of_syntax(error: SyntaxError) -> str:
    """Return a hint about a missing comma; Python reports only where the first of the two values begins."""
    if error.text and error.text.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return "resolve the merge conflict: the lines between <<<<<<< and >>>>>>> are two versions"
    if "forgot a comma" not in error.msg or not (error.filename and error.lineno and error.end_lineno):
        return ""
    start = (error.lineno, max(error.offset or 1, 1))
    depth, before = 0, None
    for token in _tokens(error.filename, start, (error.end_lineno, error.end_offset or 1)):
        is_value = token.type != tokenize.OP and not iskeyword(token.string)
        if is_value and depth == 0 and before is not None and token.start[0] > before.end[0]:
            return f"a comma may be missing at the end of line {error.lineno + before.end[0] - 1}"
        depth += _nesting(token)
        before = token if is_value or token.string in ")]}" else None
    return ""


def _of_call(message: str, source: Source | None) -> str:
    """Return a hint about the arguments of a clause; `message` is Python's."""
    if _UNION.match(message):
        return "write Nullable(…) if null is a value; without required=True an attribute is optional"
    if message == "'module' object is not callable":
        return "call a name of the module, such as http.HTTP(…)"
    if message.endswith("object is not callable"):
        return _of_called_value(source)
    if message.startswith("Can't instantiate abstract class"):
        return "if it executes tools, toolgen gen adds a stub of each method that it lacks"
    if source is None and "required positional argument" in message:
        return "toolgen calls it without arguments: give each parameter a default"
    match = _CALL.match(message)
    clause = _clause(match[1]) if match else None
    if match is None or clause is None:
        return ""
    name, value = clause
    if keyword := _KEYWORD.match(match[2]):
        return _of_keyword(keyword[1], name, value)
    if match[2].startswith("takes") and match[1] in _VALUES:
        return f"write {_VALUES[match[1]]} for a value; the type takes only keywords, such as minimum=…"
    if match[2].startswith("missing") and source is not None:
        for first, second in _adjacent_texts(source):
            return f"a comma may be missing between {first} and {second}"
    return f"write {_usage(name, value)}"


def _of_host_call(message: str, frame: FrameType | None, source: Source | None) -> str:
    """Return how to call a function or a class of toolgen or of generated code; "" for other code."""
    if frame is None or source is None or not _MISCALLED.search(message):
        return ""
    called = _called(frame, source)
    if called is None:
        return ""
    name, value = called
    keywords = _keywords(value)
    if (keyword := _KEYWORD.search(message)) and (near := _closest(keyword[1], keywords)):
        return f"did you mean {near!r}?"
    return f"write {_usage(name, value)}"


def _called(frame: FrameType, source: Source) -> tuple[str, object] | None:
    """Return the dotted name and the value of a called function of toolgen or of generated code."""
    _, line, column = source.place
    names: list[str] = []
    for token in _tokens(source.file, (line, column), source.end):
        if token.string == "(":
            break
        if token.type == tokenize.NAME:
            names.append(token.string)
        elif token.string != ".":
            return None
    value: object = {**frame.f_globals, **frame.f_locals}.get(names[0]) if names else None
    for name in names[1:]:
        value = (
            inspect.getattr_static(value, name, None)
            if isinstance(value, type)
            else getattr(value, name, None)
        )
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    file = getattr(module, "__file__", None) or ""
    is_own = (module is not None and module.__name__.startswith("toolgen.")) or linecache.getline(
        file, 1
    ).startswith(GENERATED)
    return (".".join(names), value) if is_own and callable(value) else None


def _of_called_value(source: Source | None) -> str:
    """Return a hint about a called value: superfluous parentheses, or a missing comma."""
    if source is not None:
        _, line, column = source.place
        match [token.string for token in _tokens(source.file, (line, column), source.end)]:
            case [*names, "(", ")"] if "(" not in names and names[-1:] != [","]:
                return f"write {''.join(names)}, without parentheses: it is a value, not a function"
            case _:
                pass
    return "a comma may be missing before the '('"


_MODEL_KEYWORDS: Final = frozenset(("llm", "model", "model_name", "planner"))
"""Keywords of agents in other frameworks that a design does not have."""


def _of_keyword(keyword: str, name: str, value: object) -> str:
    own = _keywords(value)
    if name == "Attribute" and keyword in _OF_OTHERS:
        return _OF_OTHERS[keyword]
    if (renamed := _SCHEMA_KEYWORDS.get(naming.snake(keyword))) in own:
        return f"did you mean {renamed!r}?"
    if near := _closest(keyword, own):
        return f"did you mean {near!r}?"
    owners = [other for other in PREFIXES if keyword in _keywords(value_of(other))]
    if name == "Agent" and keyword in _MODEL_KEYWORDS:
        return 'name its model in pyproject.toml: below [tool.toolgen.agents] write name = "openai:gpt-5"'
    if clause := _containing_clause(keyword, owners, value):
        return f"write {clause} in {name}(…)"
    if name == "Example":
        return f'write Example({{"{keyword}": …}}): the arguments are one dict'
    if owners:
        return f"{keyword!r} belongs to {', '.join(owners)}; write {_usage(name, value)}"
    return f"write {_usage(name, value)}"


def _containing_clause(keyword: str, owners: list[str], value: object) -> str:
    """Return the inner clause to write instead of a keyword; "" if there is none."""
    children = arguments_of(value).children if isinstance(value, type) and issubclass(value, Clause) else ()
    names = [child.__name__ for child in children or ()]
    if naming.class_name(keyword) in names:
        return f"{naming.class_name(keyword)}(…)"
    owner = next((name for name in owners if name in names), "")
    if owner:
        return f"{owner}({keyword}=…)"
    return "Use(toolset)" if "Use" in names and keyword in ("tools", "toolsets") else ""


def _clause(class_name: str) -> tuple[str, object] | None:
    """Return the name and the value of a clause by the Python name of its class."""
    for name in PREFIXES:
        value = value_of(name)
        kind = value if isinstance(value, type) else type(value)
        if kind.__name__ == class_name:
            # `Boolean`, `Date` and others share a class, and take no arguments.
            return (name if _parameters(value) else "the type"), value
    return None


def _parameters(value: object) -> list[inspect.Parameter]:
    return list(inspect.signature(value).parameters.values()) if callable(value) else []


def _keywords(value: object) -> list[str]:
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in _parameters(value) if parameter.kind in kinds]


def _usage(name: str, value: object) -> str:
    """Return the usage of a clause: `Attribute(name, type, description, required=…, …)`."""
    parts: list[str] = []
    keywords: list[str] = []
    for parameter in _parameters(value):
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            parts.append("…")
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            parts.append("name=…, …")
        elif (
            parameter.kind is inspect.Parameter.POSITIONAL_ONLY
            and parameter.default is not inspect.Parameter.empty
        ):
            continue  # rarely written
        elif (
            parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.default is inspect.Parameter.empty
        ):
            parts.append(f"{parameter.name}=…")
        elif (
            parameter.kind is inspect.Parameter.KEYWORD_ONLY
            or parameter.default is not inspect.Parameter.empty
        ):
            keywords.append(f"{parameter.name}=…")
        else:
            parts.append(parameter.name)
    shown = keywords if len(keywords) <= _MOST_KEYWORDS + 1 else [*keywords[:_MOST_KEYWORDS], "…"]
    return f"{name}({', '.join([*parts, *shown])})" if parts or shown else f"{name} without arguments"


def _adjacent_texts(source: Source) -> Iterator[tuple[str, str]]:
    """Yield adjacent string literals in the call itself, which Python joins into one."""
    _, line, column = source.place
    depth, before = 0, None
    for token in _tokens(source.file, (line, column), source.end):
        if token.type == tokenize.STRING and before is not None:
            yield _short(before), _short(token.string)
        depth += _nesting(token)
        before = token.string if token.type == tokenize.STRING and depth == 1 else None


def _tokens(file: str, start: tuple[int, int], end: tuple[int, int]) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens between two places of a file, without comments and line ends."""
    (line, column), (end_line, end_column) = start, end
    lines = [linecache.getline(file, number) for number in range(line, end_line + 1)]
    if not lines or not all(lines) or start == end:
        return
    lines[-1] = lines[-1][: end_column - 1]
    lines[0] = lines[0][column - 1 :]
    layout = (
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.COMMENT,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline):
            if token.type not in layout:
                yield token
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return


def _nesting(token: tokenize.TokenInfo) -> int:
    """Return the change of the bracket depth by a token."""
    return (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _closest(name: str, names: list[str]) -> str:
    return next(iter(difflib.get_close_matches(name, names, n=1)), "")
