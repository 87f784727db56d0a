"""A project whose design has changed since its catalog was released."""

from __future__ import annotations

import json

import pytest

from toolgen.contract.names import CATALOG

from .conftest import DESIGN, ProjectFolder

BROKEN = DESIGN.replace("max_length=40", "max_length=20").replace('"text", String', '"words", String')


@pytest.fixture
def released(project: ProjectFolder) -> ProjectFolder:
    """A project whose catalog is kept as `released.json`, and whose design has changed since."""
    project.run("gen")
    project.write("released.json", (project.path / "app/gen" / CATALOG).read_text("utf-8"))
    project.write("app/design.py", BROKEN)
    return project


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


TOOL = {"name": "greet", "id": "hall.people.greet", "payload": {"schema": {"type": "object"}}}
