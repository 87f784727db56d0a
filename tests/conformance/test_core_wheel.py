"""A wheel of the core alone: with pydantic it runs generated tools, and names what it does not have."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.conformance.test_wheel import ROOT, UV, installed, run
from tests.core import IMPORT_ALL, MODULES, copy_core

HOME = """\
import asyncio, json
from pathlib import Path
from examples.home.database import connect
from examples.home.executors.assistant.devices import Devices
from examples.home.executors.assistant.documents import Documents
from examples.home.services import DeviceStore
from gen.assistant.toolsets import devices, documents
from toolgen.runtime import CallMeta, Runtime

database = connect(Path("home.db"))
runtime = Runtime()
runtime.tools.register(devices.registration(Devices(device_service=DeviceStore(database))))
runtime.tools.register(documents.registration(Documents(database)))


PERIOD = {"start": "2026-01-30T00:00:00Z", "end": "2026-01-31T00:00:00Z"}


async def main():
    for tool, arguments in [
        ("list_devices", {"site_id": "harbour", "status": "offline", "limit": 1}),
        ("list_devices", {"site_id": "moon"}),
        ("list_devices", {"limit": 0}),
        ("get_time_series", {"device_id": "h03", **PERIOD}),
        ("search", {"query": "filter", "limit": 1}),
    ]:
        result = await runtime.call(tool, json.dumps(arguments), CallMeta(session_id="s-mira"))
        is_cut = result.bounds is not None and result.bounds.truncated
        print(tool, result.status, is_cut, len(result.artifacts), result.json.decode()[:60])


asyncio.run(main())
"""

BANK = """\
import asyncio, logging
from bank.bank.toolsets import payments
from bank.types import Card
from toolgen.runtime import Runtime

logging.disable()
CARD = {"number": "4000123412341234"}


class Payments(payments.PaymentsExecutor):
    async def pay(self, payload, ctx):
        raise payments.PAY_DECLINED.of("no money", Card(number=payload.card.number))

    async def pay_much(self, payload, ctx):
        raise AssertionError("nobody was asked")

    transfer = check_card = pay_much


runtime = Runtime()
runtime.tools.register(payments.registration(Payments()))
for tool in ("pay", "pay_much"):
    result = asyncio.run(runtime.call(tool, {"amount": 5, "card": CARD}))
    print(tool, result.json.decode())
"""

BEYOND = """\
from toolgen.runtime import Runtime

try:
    {code}
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with generated code, and an environment with a wheel of the core and pydantic."""
    source, folder = tmp_path_factory.mktemp("core"), tmp_path_factory.mktemp("project")
    copy_core(source)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = "build --wheel --no-build-isolation --out-dir".split()
    run(source, *UV, *build, folder, "--python", sys.executable)
    pins = re.findall(r"^[\w.-]+==[^\s;]+", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE)
    (folder / "constraints.txt").write_text("\n".join(pins))
    run(folder, sys.executable, "-m", "venv", "--without-pip", "venv")
    install = "pip install --constraint constraints.txt --python venv/bin/python".split()
    run(folder, *UV, *install, next(folder.glob("*.whl")))
    assert installed(folder / "venv/bin/python") == {
        *("annotated-types", "pydantic", "pydantic-core", "toolgen", "typing-extensions", "typing-inspection")
    }
    shutil.copytree(ROOT / "gen", folder / "gen")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "tests/cases/sensitive/gen", folder / "bank")
    return folder


def run_in(project: Path, code: str, *arguments: str) -> str:
    return run(project, project / "venv/bin/python", "-c", code, *arguments)


def test_each_module_and_each_public_name_is_imported_with_pydantic_alone(project: Path) -> None:
    [packages] = project.glob("venv/lib/*/site-packages")
    assert int(run_in(project, IMPORT_ALL, str(packages), *MODULES)) > 100


def test_the_tools_of_the_example_are_called(project: Path) -> None:
    """Their results are bounded, their `session_id` is injected, and mistakes of the model are explained."""
    assert run_in(project, HOME).splitlines() == [
        'list_devices ok True 0 {"devices":[{"id":"h18","name":"Bedroom blind","kind":"blind',
        """list_devices error False 0 {"error":"The user has no site 'moon', but these: cabin, har""",
        'list_devices error False 0 {"error":"the arguments of list_devices do not fit","issues"',
        'get_time_series ok False 1 {"summary":"Hall radiator: temperature was 19.9 °C on averag',
        'search ok False 0 {"hits":[],"returned":0,"truncated":false,"total":0,"refinem',
    ]


def test_a_declared_error_reaches_the_caller_and_an_approval_that_nobody_keeps_is_denied(
    project: Path,
) -> None:
    assert run_in(project, BANK).splitlines() == [
        'pay {"error":"no money","code":"declined","details":{"number":"4000123412341234"}}',
        'pay_much {"error":"pay_much needs approval, but this runtime is not interactive or has no engine",'
        '"code":"approval_unavailable"}',
    ]


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("from toolgen.runtime.functions import func_tool", "toolgen.runtime.functions"),
        ("from toolgen.engines import InProcessEngine", "toolgen.engines"),
        ("Runtime(engine=object())", "toolgen.waiting"),
        ("import toolgen.dsl", "toolgen.dsl"),
    ],
)
def test_what_it_does_not_have_is_named(project: Path, code: str, missing: str) -> None:
    assert run_in(project, BEYOND.format(code=code)) == f"No module named '{missing}'\n"
