"""Renders views to text, with one template for each view."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined


class View(Protocol):
    """Finished strings for one template."""

    template: ClassVar[str]


def render(view: View, *, design: str) -> str:
    """Return the unformatted text; `design` is the dotted name of the design's module."""
    return _environment().get_template(view.template).render(view=view, design=design)


def fill(template: str, values: object) -> str:
    """Return the text of a template that needs no formatting; the template reads the values from `view`."""
    return _environment().get_template(template).render(view=values)


def plain_file(name: str) -> str:
    """Return the text of a template that is copied unchanged."""
    loader = _environment().loader
    assert loader is not None, "the environment is made with one"
    return loader.get_source(_environment(), name)[0]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("toolgen"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
