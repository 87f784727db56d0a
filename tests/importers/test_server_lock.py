"""`toolgen import mcp --stdio`: the lock of a live server, and its comparison."""

from __future__ import annotations

import json
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers import PEERS
from tests.selection import first
from toolgen.adapters.mcp import HttpServer, StdioServer
from toolgen.cli import main
from toolgen.cli.config import read_project
from toolgen.cli.mcp_settings import ServerSettings, read_servers, recorded
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.mcp_lock import lock_text, make_lock, read_lock
from toolgen.dsl import build

BARE = shlex.join([sys.executable, str(PEERS / "bare.py")])
GOOD = f"{BARE} good"


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """Return the code, and what was written to stdout and stderr."""
    code = main(["import", "mcp", *args])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_server_comes_into_the_settings_which_stay_as_they_are(folder: Path) -> None:
    file = folder / "pyproject.toml"
    before = b'[tool.toolgen]\r\ndesign = "design" # ours'
    file.write_bytes(before)
    assert recorded(file, "git", ServerSettings(command=("mcp-server-git",)))
    assert file.read_bytes().startswith(before)
    assert b"\n" not in file.read_bytes().replace(b"\r\n", b"")
    assert list(read_project(file).mcp) == ["git"]


@pytest.mark.exhaustive
def test_a_lock_is_written_updated_and_compared(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, _, told = run(capsys, "--stdio", GOOD)
    assert code == 0
    assert told == (
        'next: add d.MCPToolset("bare", lock="bare.mcp.json") to a service of the design\n'
        "wrote bare.mcp.json: 28 tools\n"
    )
    file = folder / "bare.mcp.json"
    assert json.loads(file.read_text())["protocol"] == "2025-11-25"
    assert run(capsys, "--stdio", GOOD)[2] == "bare.mcp.json is up to date: 28 tools\n"
    assert run(capsys, "--stdio", GOOD, "--check")[0] == 0
    lock = read_lock(file.read_text())
    older_facts: dict[str, Json] = {
        "title": "Say it",
        "annotations": {"readOnlyHint": True, "idempotentHint": True},
    }
    kept = [{**tool, **older_facts} if tool["name"] == "echo" else tool for tool in lock.tools]
    kept = [tool for tool in kept if tool["name"] not in ("ask", "hang")]
    older = make_lock("2025-11-25", "bare", "1", [*kept, {"name": "left", "inputSchema": {}}])
    file.write_text(lock_text(older))
    code, diff, told = run(capsys, "--stdio", GOOD, "--check")
    assert code == 1
    assert told.startswith("tools: 2 added (ask, hang); 1 removed (left); 1 changed (echo)\n")
    assert "  left: the tool was removed. Breaks callers, suspended calls, generated code.\n" in told
    assert "  echo: changed texts or settings: title.\n  @@ /title @@\n  -Say it\n  +Say it again\n" in told
    assert "  Weakened: echo: it is no longer read-only." in told
    assert '-      "title": "Say it",' in diff
    assert '+      "title": "Say it again",' in diff
    assert told.endswith("run the command without --check to update it\n")
    code, _, told = run(capsys, "--stdio", GOOD)
    assert code == 0
    assert "  Weakened: echo: it is no longer read-only." in told
    assert told.endswith("\nwrote bare.mcp.json: 28 tools\n")
    file.write_text(file.read_text().replace("Say it again", "Say it"))
    code, diff, told = run(capsys, "--stdio", GOOD, "--check")
    assert (code, "+      " in diff) == (1, True)
    assert told.startswith(
        "the lock was edited: the tool 'echo' differs from the one that its server listed\n"
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("args", "why"),
    first(
        [
            (("--stdio", f"{BARE} dies"), "ended before it answered hint: start it by hand"),
            (
                ("--stdio", "no-such-command"),
                "'no-such-command' does not exist hint: install it, or correct the command",
            ),
            (("--url", "http://127.0.0.1:9/mcp"), "cannot be reached: ConnectError"),
            (("--stdio", GOOD, "--url", "http://127.0.0.1:9"), "pass either --stdio or --url"),
            (("--check",), "pass either --stdio or --url"),
            (("--stdio", GOOD, "--check"), "the lock bare.mcp.json does not exist"),
            (("--stdio", GOOD, "--out", "other.json"), "these files already exist: other.json"),
            (
                ("--url", "http://127.0.0.1:9", "--header", "A: $NOT_SET"),
                "variable NOT_SET of the header 'A' is not set",
            ),
            (
                ("--url", "http://127.0.0.1:9", "--header", "A: b"),
                "--header 'A' does not take its value from",
            ),
            (
                ("--url", "http://tools.example/mcp", "--header", "A: $HOME"),
                "credentials would be sent to http://tools.example/mcp without encryption",
            ),
            (("--stdio", GOOD, "--header", "A: $HOME"), "--header needs --url"),
            (("--stdio", GOOD, "--allow-insecure"), "--allow-insecure needs --url"),
            (("--allow-insecure",), "pass either --stdio or --url"),
            (("tools.json", "--allow-insecure"), "without a SOURCE"),
            (("tools.json", "--stdio", GOOD), "without a SOURCE"),
            ((), "SOURCE is missing: pass a file, or a live server with --stdio or --url"),
        ],
        6,
    ),
)
def test_what_cannot_be_done_is_told(
    args: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "other.json").write_text("{}")
    code, _, told = run(capsys, *args)
    assert (code, why in " ".join(told.split())) == (2, True), told
    assert not (folder / "bare.mcp.json").exists()


def test_headers_are_sent_in_the_clear_where_that_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, told = run(capsys, "--url", "http://0.0.0.0:9/mcp", "--header", "A: $HOME", "--allow-insecure")
    assert (code, "cannot be reached: ConnectError" in " ".join(told.split())) == (2, True), told


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Yield the address of a web server in a process of its own."""
    command = [sys.executable, str(PEERS / "modern.py"), "http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        finally:
            process.kill()


@pytest.mark.parametrize("secret", first(["t0ken", "t0ken\n", "t0kén"]))
def test_a_header_is_of_the_environment_and_shown_nowhere(
    secret: str,
    url: str,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOCK_TOKEN", secret)
    header = "Authorization: Bearer x${LOCK_TOKEN}x"
    code, out, told = run(capsys, "--url", url, "--header", header, "--out", "it.mcp.json")
    assert code == (0 if secret == "t0ken" else 2), told
    texts = [file.read_text() for file in folder.iterdir()]
    assert "t0k" not in "".join([out, told, caplog.text, *texts])


@pytest.mark.exhaustive
def test_a_locked_server_answers_calls_without_code(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = folder / "pyproject.toml"
    settings.write_text('[tool.toolgen]\nout = "locked_server_gen"\n')
    code, _, told = run(capsys, "--stdio", GOOD)
    assert (code, told) == (
        0,
        "bare_design.py: the design module; edit it freely, it is not generated again\n"
        "pyproject.toml: [tool.toolgen.mcp.bare] has the command or URL of the server\n"
        'next: set design = "bare_design" in [tool.toolgen] of pyproject.toml, then run: toolgen gen\n'
        "wrote bare.mcp.json: 28 tools\n",
    )
    command = [sys.executable, str(PEERS / "bare.py"), "good"]
    written = tomllib.loads(settings.read_text())["tool"]["toolgen"]
    assert written == {"out": "locked_server_gen", "mcp": {"bare": {"command": command}}}
    settings.write_text(settings.read_text().replace("\nout", '\ndesign = "bare_design"\nout'))
    assert main(["gen"]) == 0
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    capsys.readouterr()
    assert main(["call", "echo", '{"text": "a", "n": 1}']) == 0
    assert "a" in capsys.readouterr().out
    settings.write_text(settings.read_text().replace("mcp.bare", "mcp.bear"))
    assert main(["call", "echo", '{"text": "a", "n": 1}']) == 2
    assert "(the connection to its server, [tool.toolgen.mcp.bare])" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["d", "http"])
def test_a_server_is_called_as_a_design_calls_the_language(
    capsys: pytest.CaptureFixture[str], folder: Path, name: str
) -> None:
    (folder / "pyproject.toml").write_text("[tool.toolgen]\n")
    peer = (PEERS / "bare.py").read_text("utf-8").replace('"name": "bare"', f'"name": "{name}"')
    (folder / "peer.py").write_text(peer, "utf-8")
    assert run(capsys, "--stdio", shlex.join([sys.executable, "peer.py", "good"]))[0] == 0
    built = build(runpy.run_path(f"{name}_design.py")["design"])
    assert [str(each) for each in built.diagnostics] == []


def test_a_project_with_a_design_gets_the_server_alone(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "mine"')
    told = run(capsys, "--stdio", GOOD)[2]
    assert told.startswith(
        'next: add d.MCPToolset("bare", lock="bare.mcp.json") to a service of the design\n'
    )
    assert not (folder / "bare_design.py").exists()
    assert read_project(folder / "pyproject.toml").mcp["bare"].command[-1] == "good"


def test_a_project_with_a_runtime_keeps_its_settings(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    settings = '[tool.toolgen]\ndesign = "mine"\nruntime = "mine:runtime"\n'
    (folder / "pyproject.toml").write_text(settings)
    assert "next: open an MCPToolset for it in your runtime" in run(capsys, "--stdio", GOOD)[2]
    assert (folder / "pyproject.toml").read_text() == settings


def test_no_secret_is_recorded(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "mine"\n')
    told = run(capsys, "--stdio", f"{GOOD} --token=abc")[2]
    assert "may contain a secret, so write [tool.toolgen.mcp.bare] yourself" in told
    assert "abc" not in (folder / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("mcp = 3", "is not a table of servers"),
        ("mcp.git = {}", "'git' needs either a command or a url"),
        ('mcp.git = { command = ["a"], url = "https://a" }', "'git' needs either a command or a url"),
        ('mcp.git = { command = "a" }', "'command' of 'git' is not a list of strings"),
        ('mcp.git = { command = ["a"], cwd = "b" }', "'git' has no key 'cwd'"),
        (
            'mcp.git = { url = "https://a", headers = { A = "b" } }',
            "does not take its value from an environment variable",
        ),
        ('mcp.git = { command = ["a"] }\nruntime = "a:b"', "is for projects without 'runtime'"),
    ],
)
def test_settings_of_a_server_that_are_none(folder: Path, table: str, problem: str) -> None:
    (folder / "pyproject.toml").write_text(f'[tool.toolgen]\ndesign = "mine"\n{table}\n')
    with pytest.raises(ToolgenError) as error:
        read_project(folder / "pyproject.toml")
    assert problem in str(error.value)


@pytest.mark.exhaustive
def test_secrets_of_a_server_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        "git": {"command": ["a"], "environment": ["GIT_TOKEN"]},
        "web": {"url": "https://a.example", "headers": {"Authorization": "Bearer ${GIT_TOKEN}"}},
    }
    servers = read_servers(table)
    monkeypatch.delenv("GIT_TOKEN", raising=False)
    for settings in servers.values():
        with pytest.raises(ToolgenError, match="the environment variable GIT_TOKEN"):
            settings.server()
    monkeypatch.setenv("GIT_TOKEN", "abc")
    process, web = servers["git"].server(), servers["web"].server()
    assert isinstance(process, StdioServer)
    assert isinstance(web, HttpServer)
    assert process.env == {"GIT_TOKEN": "abc"}
    assert web.headers == {"Authorization": "Bearer abc"}
