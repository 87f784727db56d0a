"""Texts of others where they are shown: nothing that is obeyed or hidden, and no line of their own."""

from __future__ import annotations

import sys

import pytest

from tests.capabilities.oauth_host import Host
from tests.capabilities.oauth_host import server as server
from tests.capabilities.oauth_server import OAuthServer
from tests.conftest import ProjectFolder
from tests.runtime.tools import waiting

from .every_command import HOSTILE, LINES, TYPED, start_runs, write_files
from .interfaces import interfaces


def test_each_command_is_tried() -> None:
    commands = [name for name in interfaces() if name.startswith("command ")]
    assert [f"command {name}" for name in sorted(LINES)] == commands


@pytest.mark.exhaustive
def test_no_command_shows_at_a_terminal_what_is_obeyed_or_hidden(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(project)
    start_runs(project)
    monkeypatch.setenv("NO_COLOR", "1")
    shown, obeyed = set(), []
    for name, lines in LINES.items():
        for line in lines:
            for stream in (sys.stdout, sys.stderr):
                monkeypatch.setattr(stream, "isatty", lambda: True)
            done = project.run(*line, piped=TYPED.get(name, ""))
            said = (done.out + done.err).splitlines()
            obeyed += [(line, one) for one in said if not one.isprintable() or one.startswith("all is well")]
            if any("all is well" in each for each in said):
                shown.add(name)
    assert obeyed == []
    assert len(shown) > 20, "the texts are shown"


async def test_the_page_of_an_authorization_is_one_line(server: OAuthServer) -> None:
    """Whoever sends a browser there chooses the words."""
    host = Host(server, "authorization_code")
    brought = await host.authorize(waiting(await host.get()))
    for words in ({"error": HOSTILE}, {"error": "access_denied", "error_description": HOSTILE}):
        status, text = await host.callback.complete({"state": brought["state"], **words})
        assert (status, "all is well" in text, text.isprintable()) == (400, True, True)
