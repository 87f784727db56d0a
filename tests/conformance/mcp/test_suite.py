"""The conformance suite of MCP itself, in node, on both sides and in both eras: `make .peers/ready`.

What fails in it stands with its reason in `suite_failures.toml`; there nothing may stand that does not fail.
"""

from __future__ import annotations

import fnmatch
import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import yaml  # type: ignore[import-untyped]  # its stubs are not installed

from tests.peers import PEERS

from .servers import NODE, npm_program

pytestmark = pytest.mark.costly

REVISIONS: Final = ("2025-11-25", "2026-07-28")
EXPECTED: Final[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "suite_failures.toml").read_text("utf-8")
)
OF_CLIENTS: Final = {
    "2025-11-25": (
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
    ),
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
    ),
}
"""The scenarios that are run; each starts a client."""
EXIT: Final = "exit"
"""Stands for a check of the client's exit code, which the suite reports apart."""


def required(side: str, revision: str) -> set[str]:
    """Return the scenarios that a revision runs on one side."""
    program = npm_program("conformance")
    text = (program.parents[1] / "requirements" / f"{revision}.yaml").read_text("utf-8")
    document = yaml.safe_load(text)
    others = (entry["scenario"] for entry in document["not_scored"] if entry["leg"] == side)
    return {*document[side], *others}


def run(*options: str, output: Path) -> subprocess.CompletedProcess[str]:
    """Run the suite; its results are in a folder for each scenario."""
    command = [str(NODE), str(npm_program("conformance")), *options, "--output-dir", str(output)]
    paths = os.pathsep.join((str(NODE.parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": paths}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def failed(results: Path, scenario: str) -> set[str]:
    """Return `scenario:check` of each check that failed, or warned of what should be otherwise."""
    checks = json.loads(results.read_text("utf-8"))
    return {f"{scenario}:{check['id']}" for check in checks if check["status"] in ("FAILURE", "WARNING")}


def expected(side: str, revision: str) -> list[str]:
    """Return the patterns of checks that fail."""
    return [
        check
        for entry in EXPECTED["failure"]
        if entry["side"] == side and revision in entry.get("revisions", REVISIONS)
        for check in entry["checks"]
    ]


def require_expected(patterns: list[str], found: set[str]) -> None:
    """Raise for a failure that is not expected, or an expected one that is none."""
    news = {check for check in found if not any(fnmatch.fnmatch(check, pattern) for pattern in patterns)}
    passed = [pattern for pattern in patterns if not fnmatch.filter(found, pattern)]
    assert (news, passed) == (set(), [])


def test_each_failure_has_a_reason() -> None:
    assert all(entry["reason"] and entry["checks"] for entry in EXPECTED["failure"])
    assert all(entry["reason"] and entry["scenarios"] for entry in EXPECTED["not_run"])


@contextmanager
def suite_server() -> Iterator[str]:
    command = [sys.executable, str(PEERS / "suite_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_server_conforms(revision: str, tmp_path: Path) -> None:
    with suite_server() as url:
        done = run("server", "--url", url, "--requirements", revision, output=tmp_path)
    results = {  # in a folder of the scenario and the time, in six parts
        file.parent.name.removeprefix("server-").rsplit("-", 6)[0]: file
        for file in tmp_path.rglob("checks.json")
    }
    assert results.keys() == required("server", revision), done.stdout[-2_000:]
    found = set().union(*(failed(file, scenario) for scenario, file in results.items()))
    require_expected(expected("server", revision), found)


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_scenario_of_clients_is_left_out_without_a_reason(revision: str) -> None:
    patterns = [scenario for entry in EXPECTED["not_run"] for scenario in entry["scenarios"]]
    scenarios = required("client", revision)
    left_out = {name for pattern in patterns for name in fnmatch.filter(scenarios, pattern)}
    assert scenarios - left_out == set(OF_CLIENTS[revision])
    assert {check.partition(":")[0] for check in expected("client", revision)} <= set(OF_CLIENTS[revision])


@pytest.mark.parametrize(
    ("revision", "scenario"), [(revision, name) for revision, names in OF_CLIENTS.items() for name in names]
)
def test_the_client_conforms(revision: str, scenario: str, tmp_path: Path) -> None:
    command = shlex.join([sys.executable, str(PEERS / "suite_client.py")])
    options = ("--scenario", scenario, "--spec-version", revision)
    done = run("client", "--command", command, *options, output=tmp_path)
    files = list(tmp_path.rglob("checks.json"))
    assert len(files) == 1, done.stdout + done.stderr
    found = failed(files[0], scenario)
    if "CLIENT EXITED WITH ERROR" in done.stdout + done.stderr:
        found.add(f"{scenario}:{EXIT}")
    patterns = expected("client", revision)
    require_expected([pattern for pattern in patterns if pattern.startswith(f"{scenario}:")], found)
