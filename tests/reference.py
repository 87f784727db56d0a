"""Reference entries of the documents, generated from signatures and docstrings.

What stands between `<!-- reference: toolgen.dsl Args Return -->` and `<!-- end of reference -->` in a page is
generated: one entry for each name, `Runtime.call` for a method. `check` compares a page with its entries, and
`UPDATE=1` rewrites them.

An entry has the signature, the first paragraph of the docstring, the parameters, what is returned and raised,
the other paragraphs, and the examples. `Args:` of the class or of a base class explains a parameter, or else
the text below the field. Neighbours of one type without an explanation share a line. In a docstring,
`docs/approvals.md` becomes a link to the page with its title, `docs/approvals.md#limits` one to the heading.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import griffe

from tests.surface import definition

DOCS = Path(__file__).parent.parent / "docs"
PREFIXES = {"toolgen.dsl": "d.", "toolgen.dsl.http": "http."}
"""Names of a module as its readers write them."""
OBJECTS = {
    "Runtime": "runtime",
    "RuntimeTools": "runtime.tools",
    "Suspensions": "runtime.suspensions",
    "RuntimeRuns": "runtime.runs",
    "RuntimeArtifacts": "runtime.artifacts",
}
"""Names of objects whose methods have entries, by their class."""
PARTS = {
    "RuntimeTools": "toolgen.runtime.tools",
    "Suspensions": "toolgen.waiting.suspensions",
    "RuntimeRuns": "toolgen.runtime.runs",
    "RuntimeArtifacts": "toolgen.runtime.artifacts",
}
"""Modules of classes that no reader names."""
RAISED = frozenset({"OutcomeUnknownError", "ToolError"})
"""Exceptions that hosts raise."""
MADE = frozenset(
    "Actions ArtifactRef FieldIssue Pending Snapshot Suspended SyncToolContext ToolContext ToolModel "
    "ToolOutcome ToolResult ToolSpec Unfinished".split()
)
"""Classes whose objects toolgen makes: their entries have no signature, as those of other exceptions."""
PLAIN = {
    r"\b(DataType|Holds)\[.*\]": "DataType",
    r"\bValue\[\w+\]": "Value",
    r"\bAnything\b": "Any",
    r" \| Missing\b": "",
}
"""Replacements in annotations whose full form helps type checkers and no reader."""
VARIABLES = {"Choice": "str | int", "Length": "int", "Text": "str", "Flag": "bool"}
"""Type variables that stand for known types."""
LENGTH = 110
MARKED = re.compile(r"(<!-- reference: ([\w.]+)\s([\w.\s]+?)-->\n).*?(<!-- end of reference -->)", re.DOTALL)
TYPES = re.compile(r"(?<=` )\(`([A-Z]\w*(?: \| [\w.]+)*)`")
"""The classes that a parameter can be; those with an entry become links."""
EXAMPLE = re.compile(r"Example: `([^`]+)`")
MENTIONED = re.compile(r"\bdocs/([\w-]+\.md)(?:#([\w-]+))?")


def check(page: str, footer: Callable[[str], str] = lambda name: "") -> None:
    """Assert that the entries of a page are those of the code; each ends with what `footer` returns."""
    file = DOCS / page
    written = file.read_text("utf-8")
    assert written.count("<!-- reference:") == written.count("<!-- end of reference -->") > 0, (
        "a marker is missing"
    )
    text = filled(written, footer)
    if os.environ.get("UPDATE"):
        file.write_text(text, "utf-8")
    assert file.read_text("utf-8") == text


def filled(text: str, footer: Callable[[str], str]) -> str:
    """Return a page with its entries."""

    names = {name for match in MARKED.finditer(text) for name in match[3].split()} - {"Any"}

    def entries(match: re.Match[str]) -> str:
        made = (f"{entry(match[2], name)}{footer(name)}\n" for name in match[3].split())
        return f"{match[1]}\n{TYPES.sub(links, ''.join(made))}{match[4]}"

    def links(match: re.Match[str]) -> str:
        parts = (
            f"[`{part}`](#{slug(spelled(part))})" if part in names else f"`{part}`"
            for part in match[1].split(" | ")
        )
        return f"({' | '.join(parts)}"

    return MARKED.sub(entries, text)


def entry(module: str, name: str) -> str:
    """Return the entry of a public name, or of a member of one."""
    module = PARTS.get(name.partition(".")[0], module)
    target = value(module, name)
    sections = griffe.parse_google(griffe.Docstring(docstring(module, name)), warnings=False)
    texts = [each for part in sections if part.kind.value == "text" for each in part.value.split("\n\n")]
    examples = [f"```python\n{match[1]}\n```" for text in texts if (match := EXAMPLE.fullmatch(text))]
    examples += [part.value.contents for part in sections if part.kind.value == "admonition"]
    first, *others = [text for text in texts if not EXAMPLE.fullmatch(text)]
    blocks = [signature(module, name), first, "\n".join(parameters(module, name))]
    blocks += [f"**Returns:** {each}" for each in returned(target, sections)]
    blocks += ["**Raises:**\n\n" + "\n".join(raised(sections))] if any(raised(sections)) else []
    linked = MENTIONED.sub(link, "\n\n".join(block for block in [*blocks, *others] if block))
    return "\n\n".join([f"### `{spelled(name)}`", linked, *examples]) + "\n"


def spelled(name: str) -> str:
    """Return a name as its readers write it: that of an object before its methods."""
    first, _, member = name.partition(".")
    return f"{OBJECTS.get(first, first)}.{member}" if member else OBJECTS[name] if name in PARTS else name


def members(module: str, name: str, listed: Collection[str]) -> str:
    """Return the attributes and methods of a class that have no entry of their own, for its entry.

    Without those whose text begins with "Internal".
    """
    target = value(PARTS.get(name.partition(".")[0], module), name)
    if not inspect.isclass(target):
        return ""
    shown = {*_fields(target), *(each.rpartition(".")[2] for each in listed if each.startswith(f"{name}."))}
    lines = dict[str, str]()
    classes = target.__mro__[:1] if issubclass(target, BaseException) else target.__mro__
    for class_ in classes:
        if class_.__module__.startswith("toolgen"):
            for member, line in _member_lines(class_):
                lines.setdefault(member, line)
    listing = "\n".join(line for member, line in lines.items() if line and member not in shown)
    label = "**Members:**\n\n" if _fields(target) else ""
    return f"\n{label}{listing}\n" if listing else ""


def _fields(target: Any) -> set[str]:
    """Return the parameters that an entry lists."""
    if inspect.isclass(target) and is_made(target) and not is_dataclass(target):
        return set()
    return {each.name for each in _parameters(target)}


def _member_lines(class_: type) -> Iterator[tuple[str, str]]:
    """Yield the public members of a class, each with its line; an empty one for an internal member."""
    (node,) = ast.parse(inspect.getsource(class_)).body
    assert isinstance(node, ast.ClassDef)
    names = vars(import_module(class_.__module__))
    made = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    texts = texts_below(node.body) | texts_below(made[0].body if made else ())
    for member, text in texts.items():
        kind = inspect.get_annotations(class_).get(member)
        if member[0] != "_":
            shown = f" (`{annotation(kind, names)}`)" if kind is not None else ""
            line = f"- `{member}`{shown}: {' '.join(text.split())}"
            yield member, "" if text.startswith("Internal") else line
    for member, function in list(vars(class_).items()):
        function = getattr(function, "__func__", function)
        getter = getattr(function, "fget", None) or getattr(function, "func", None)
        if member[0] == "_" or not (getter or inspect.isroutine(function)):
            continue
        paragraph = (inspect.getdoc(getter or function) or "").partition("\n\n")[0]
        text = f": {' '.join(paragraph.split())}" if paragraph else ""
        returns = inspect.signature(getter or function).return_annotation
        if getter:
            line = f"- `{member}` (`{annotation(returns, names)}`){text}"
        else:
            awaited = "await " if inspect.iscoroutinefunction(function) else ""
            line = f"- `{awaited}{member}{_bare(function)}`{text}"
        yield member, "" if paragraph.startswith("Internal") else line


def is_made(target: type) -> bool:
    """Return whether readers call no constructor of a class: toolgen does, or it is a protocol."""
    is_other_error = issubclass(target, BaseException) and target.__name__ not in RAISED
    return getattr(target, "_is_protocol", False) or is_other_error or target.__name__ in {*MADE, *PARTS}


def value(module: str, name: str) -> object:
    """Return what a name stands for; a property as such."""
    first, *members = name.split(".")
    target = getattr(import_module(module), first)
    for member in members:
        target = inspect.getattr_static(target, member)
    return target.__func__ if isinstance(target, (classmethod, staticmethod)) else target


def docstring(module: str, name: str) -> str:
    """Return what an editor shows: the docstring, or the text below a constant."""
    target = value(module, name)
    if inspect.isclass(target) or inspect.isroutine(target) or isinstance(target, property):
        return inspect.getdoc(target) or ""
    home, _ = definition(module, name)
    return texts_below(ast.parse(inspect.getsource(import_module(home))).body)[name]


def texts_below(body: Iterable[ast.stmt]) -> dict[str, str]:
    """Return the texts that stand below the names of a body."""
    found = {}
    for statement, below in itertools.pairwise(body):
        match statement, below:
            case (
                (
                    ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name))
                    | ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)])
                ),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
            case _:
                pass
    return found


def signature(module: str, name: str) -> str:
    """Return how a name is called, without annotations."""
    target = value(module, name)
    if inspect.isclass(target) and is_made(target):
        return ""
    text = PREFIXES.get(module, "") + spelled(name)
    is_called = callable(target) and not isinstance(target, property)
    listed = _parameters(target) if is_called else []
    if alias := _alias(module, name):
        return f"```py\n{name} = {alias}\n```"
    if not listed and not inspect.isclass(target) and not inspect.isroutine(target):
        return f"```py\n{text}\n```"
    if inspect.iscoroutinefunction(target):
        text = f"await {text}"
    bare = _bare(target)
    if len(text + bare) > LENGTH:
        lines = (f"    {part},\n" for part in re.split(r", (?=[*/\w])", bare[1:-1]))
        bare = f"(\n{''.join(lines)})"
    return f"```py\n{text}{bare}\n```"


def _alias(module: str, name: str) -> str:
    """Return the type that an alias stands for; "" for another name."""
    _, node = definition(module, name.partition(".")[0])
    if isinstance(node, ast.AnnAssign) and node.value and ast.unparse(node.annotation) == "TypeAlias":
        return annotation(ast.unparse(node.value), {}).strip('"')
    return ""


def _bare(target: Any) -> str:
    """Return the parameters of what is called, without annotations."""
    listed = [each.replace(annotation=each.empty, default=_shown(each)) for each in _parameters(target)]
    return str(inspect.Signature(listed))


def _parameters(target: Any) -> list[inspect.Parameter]:
    listed = inspect.signature(target).parameters.values()
    return [each for each in listed if each.name not in ("self", "cls")]


def _shown(parameter: inspect.Parameter) -> object:
    return parameter.default if parameter.default is parameter.empty else _Shown(parameter.default)


class _Shown:
    """A default as a reader writes it."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        if isinstance(self.value, str):
            return json.dumps(self.value)
        text = "..." if repr(self.value) == "MISSING" else repr(self.value)
        return "..." if text.startswith("<") else re.sub(r"^(\w+)\(.*\)$", r"\1()", text)


def parameters(module: str, name: str) -> Iterator[str]:
    """Yield a line for each parameter, and one for those of one type that nothing explains."""
    target = value(module, name)
    if _alias(module, name):
        return
    if isinstance(target, property) or not callable(target):
        return
    texts = explanations(module, name)
    names_of = vars(import_module(_home(target)))
    fields = _fields(target)
    shown = (each for each in _parameters(target) if each.name in fields) if fields else ()
    named = ((_kind(each, names_of), texts.get(each.name, ""), each) for each in shown)
    named = (each for each in named if not each[1].startswith("Internal"))
    for (kind, text), group in itertools.groupby(named, key=lambda each: each[:2]):
        names = (f"`{each.replace(annotation=each.empty, default=each.empty)}`" for _, _, each in group)
        yield f"- {', '.join(names)} ({kind})" + (f": {' '.join(text.split())}" if text else "")


def _home(target: Any) -> str:
    return str((target if hasattr(target, "__qualname__") else type(target)).__module__)


def _kind(parameter: inspect.Parameter, names: Mapping[str, object]) -> str:
    default = parameter.default
    is_shown = default is not parameter.empty and repr(default) != "MISSING"
    text = annotation(parameter.annotation, names)
    alias = names.get(text)
    if parameter.kind is parameter.VAR_POSITIONAL and get_origin(alias) in (Union, UnionType):
        each = (getattr(part, "__origin__", part).__name__ for part in get_args(alias))
        text = " | ".join(dict.fromkeys(each))
    return f"`{text}`" + (f", default `{_Shown(default)!r}`" if is_shown else "")


def annotation(written: object, names: Mapping[str, object]) -> str:
    """Return an annotation as text, with what short aliases stand for."""

    def spelled(match: re.Match[str]) -> str:
        alias = names.get(match[0])
        if isinstance(alias, TypeVar):
            return VARIABLES.get(match[0], "Any")
        if get_origin(alias) is Literal:
            return " | ".join(map(json.dumps, get_args(alias)))
        if get_origin(alias) is Annotated:
            return str(get_args(alias)[0].__name__)
        if get_origin(alias) in (Union, UnionType) and len(get_args(alias)) < 6:
            return re.sub(r"\b[a-z][\w.]*\.", "", " | ".join(map(inspect.formatannotation, get_args(alias))))
        return match[0]

    text = written if isinstance(written, str) else inspect.formatannotation(written)
    for pattern, plain in PLAIN.items():
        text = re.sub(pattern, plain, text)
    text = re.sub(r"\b[A-Z]\w+\b", spelled, text)
    text = re.sub(r"\bLiteral\[([^\]]+)\]", lambda match: match[1].replace(", ", " | "), text)
    return text.replace("'", '"')


def explanations(module: str, name: str) -> dict[str, str]:
    """Return the texts of parameters, those of a class before those of its bases."""
    target = value(module, name)
    found = dict[str, str]()
    for class_ in reversed(target.__mro__ if inspect.isclass(target) else ()):
        if class_.__module__.startswith("toolgen"):
            (node,) = ast.parse(inspect.getsource(class_)).body
            found |= texts_below(node.body if isinstance(node, ast.ClassDef) else ())
            found |= arguments(class_.__doc__ or "")
    return found | arguments(docstring(module, name))


def arguments(text: str) -> dict[str, str]:
    """Return the texts of `Args:` of a docstring."""
    sections = griffe.parse_google(griffe.Docstring(inspect.cleandoc(text)), warnings=False)
    listed = (each for part in sections if part.kind.value == "parameters" for each in part.value)
    return {each.name.lstrip("*"): each.description for each in listed}


def returned(target: object, sections: list[griffe.DocstringSection]) -> Iterator[str]:
    """Yield what a function returns, or what a property is: its type, and the text of `Returns:`."""
    function = target.fget if isinstance(target, property) else target
    if not inspect.isfunction(function):
        return
    texts = [each.description for part in sections if part.kind.value == "returns" for each in part.value]
    kind = annotation(inspect.signature(function).return_annotation, vars(import_module(_home(function))))
    if kind != "None":
        yield f"`{kind}`" + (f". {texts[0]}" if texts else ".")


def raised(sections: list[griffe.DocstringSection]) -> Iterator[str]:
    """Yield a line for each exception of `Raises:`."""
    for part in sections:
        if part.kind.value == "raises":
            yield from (f"- `{each.annotation}`: {' '.join(each.description.split())}" for each in part.value)


def link(match: re.Match[str]) -> str:
    """Return a link to a page or a heading, with its title."""
    page, anchor = match[1], match[2]
    titles = re.findall(r"^#+ (.+)$", (DOCS / page).read_text("utf-8"), re.MULTILINE)
    title = next((each for each in titles if not anchor or slug(each) == anchor), None)
    assert title, f"docs/{page} has no heading {anchor}"
    return f"[{title.replace('`', '')}]({page}{f'#{anchor}' if anchor else ''})"


def slug(title: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
