"""The site of the documents: their pages, a page for each public module, and the navigation.

`python -m tests.site` writes `.site/`, which Zensical builds (`make docs`); `python -m tests.site missing`
fails where a public name has no entry in what was built. The navigation is that of
docs/index.md, and the modules and names are those of docs/changing.md. Pages keep their place in the
repository, so that a link leads somewhere in both.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import zlib
from pathlib import Path

from tests.surface import definition, exported, public_modules

ROOT = Path(__file__).parents[1]
SITE = ROOT / ".site"
PAGES = SITE / "pages"
INDEX = ROOT / "docs/index.md"
CONFIG = """\
[project]
site_name = "toolgen"
site_description = "Typed tools for AI agents, generated from one design in Python."
docs_dir = "pages"
site_dir = "html"
nav = {nav}

[project.theme]
font = false # nothing is loaded from elsewhere
features = [
    "content.code.copy",
    "navigation.footer",
    "navigation.path",
    "navigation.sections",
    "navigation.top",
    "search.highlight",
    "toc.follow",
]

[[project.theme.palette]]
media = "(prefers-color-scheme)"
toggle.icon = "lucide/sun-moon"
toggle.name = "Switch to light mode"

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark mode"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to system preference"

[project.markdown_extensions]
toc.permalink = true
pymdownx.highlight = {{}}
pymdownx.superfences = {{}}

[project.plugins.mkdocstrings.handlers.python]
paths = [{root}]

[project.plugins.mkdocstrings.handlers.python.options]
docstring_section_style = "list"
heading_level = 2
separate_signature = true
show_signature_annotations = true
show_source = false
"""
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\((\S+?)\)")
INTERNAL = "toolgen.runtime.generated"
"""Public for generated code alone; nobody reads it."""


def navigation() -> list[dict[str, object]]:
    """Return the navigation: the sections of the index with their pages, and the public modules."""
    sections: list[dict[str, object]] = [{"toolgen": "README.md"}, {"All pages": "docs/index.md"}]
    _, *parts = SECTION.split(INDEX.read_text("utf-8"))
    for section, text in zip(parts[::2], parts[1::2], strict=True):
        links = LINK.findall(text)
        pages = [
            {title: (INDEX.parent / path).resolve().relative_to(ROOT).as_posix()} for title, path in links
        ]
        sections.append({section: pages})
    return [*sections, {"API": [{module: page_of(module)} for module in documented()]}]


def in_repository(path: str) -> str:
    """Return a path from docs/ as one from the root of the repository."""
    return (INDEX.parent / path).resolve().relative_to(ROOT).as_posix()


def documented() -> list[str]:
    """Return the modules that have a page."""
    return [module for module in public_modules() if module != INTERNAL]


def page_of(module: str) -> str:
    return f"docs/api/{module.removeprefix('toolgen.')}.md"


def write() -> None:
    """Write the pages and the settings of the site."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES / "docs")
    for file in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", *outside()):
        (PAGES / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, PAGES / file)
    for module in documented():
        (PAGES / page_of(module)).parent.mkdir(exist_ok=True)
        (PAGES / page_of(module)).write_text(page(module), "utf-8")
    nav = toml(navigation())
    (SITE / "zensical.toml").write_text(CONFIG.format(nav=nav, root=json.dumps(str(ROOT))), "utf-8")


def page(module: str) -> str:
    """Return the page of a module: its text, and its public names, of which each has an entry."""
    members = "".join(f"      - {name}\n" for name in exported(module) if not hidden(module, name))
    others = "".join(
        f"\n::: {identifier(module, name)}\n    options:\n      show_root_heading: true\n"
        for name in exported(module)
        if hidden(module, name)
    )
    return f"# {module}\n\n::: {module}\n    options:\n      members:\n{members}{others}"


def hidden(module: str, name: str) -> bool:
    """Return whether a function is hidden by the module of its name, as `declarations.declarations`."""
    return definition(module, name)[0].endswith(f".{name}")


def identifier(module: str, name: str) -> str:
    """Return under which name the API reference has a public name."""
    return f"{definition(module, name)[0]}.{name}" if hidden(module, name) else f"{module}.{name}"


def missing() -> list[str]:
    """Return the public names that the built site has no entry for."""
    packed = (SITE / "html/objects.inv").read_bytes().partition(b"zlib.\n")[2]
    entries = {line.split()[0] for line in zlib.decompress(packed).decode().splitlines()}
    names = [identifier(module, name) for module in documented() for name in exported(module)]
    return [name for name in names if name not in entries]


def outside() -> list[str]:
    """Return the files outside of docs/ that documents link to, from the root of the repository."""
    linking = [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]
    found = set[str]()
    for file in linking:
        for target in re.findall(r"\]\(([^)#:]+)", file.read_text("utf-8")):
            path = (file.parent / target).resolve()
            if path.is_file() and not path.is_relative_to(ROOT / "docs"):
                found.add(path.relative_to(ROOT).as_posix())
    return sorted(found)


def toml(value: object) -> str:
    """Return a list, a table or a text as TOML on one line."""
    match value:
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return f"{{ {', '.join(f'{json.dumps(key)} = {toml(each)}' for key, each in value.items())} }}"
        case _:
            return json.dumps(value)


if __name__ == "__main__":
    if sys.argv[1:] == ["missing"]:
        if absent := missing():
            sys.exit(f"the API reference has no entry for {', '.join(absent)}")
    else:
        write()
