"""The package of a service offers what its modules hold, and imports none of them before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cases.agents.gen import assistant
from tests.cases.agents.gen.assistant import completions
from tests.cases.bounded.gen import store
from tests.cases.bounded.gen.store import service
from tests.cases.unions.gen.art.toolsets import shapes

LAZY = """
import sys
from tests.cases.bounded.gen import store
from tests.cases.bounded.gen.store.toolsets import rows
from tests.cases.agents.gen import assistant
loaded = [name for name in sys.modules if name.endswith((".service", ".completions", ".calls", ".types"))]
assert not [name for name in loaded if name.startswith("tests.cases")], loaded
assert rows.calls.__name__ and store.Store
"""


def test_a_service_is_imported_from_its_package() -> None:
    assert store.Store is service.Store
    assert all(getattr(store, name) is getattr(service, name) for name in store.__all__)


def test_completions_are_imported_from_the_package_of_their_service() -> None:
    assert assistant.__all__
    assert all(getattr(assistant, name) is getattr(completions, name) for name in assistant.__all__)


@pytest.mark.exhaustive
def test_a_package_imports_its_modules_when_they_are_used() -> None:
    subprocess.run([sys.executable, "-c", LAZY], check=True)


def test_call_builders_are_an_attribute_of_their_toolset() -> None:
    call = shapes.calls.draw(shapes.DrawPayload(main=shapes.DrawPayloadMainCircle(radius=1)))
    assert call.tool == shapes.SPECS[0].id
