"""`toolgen approve` at a terminal, with each of its options."""

from __future__ import annotations

import pytest

from tests import test_approve_command
from tests.conftest import ProjectFolder
from tests.terminal import at_a_terminal
from tests.test_approve_command import asked

pytestmark = pytest.mark.costly

database = test_approve_command.database


@pytest.mark.parametrize(
    ("options", "typed", "ran", "says"),
    [
        ([], b"y\n", True, '"rows": "of \\u202eselect 1"'),
        ([], b"\n", False, "the call was not answered"),
        ([], b"no\n", False, "the call was not answered"),
        (["--payload", '{"backup": false}'], b"n\n", False, "the call was not answered"),
        (["--yes"], b"", True, '"rows": "of \\u202eselect 1"'),
        (["--deny"], b"", False, '"code": "denied"'),
        (["--answer", '{"approved": true}'], b"", True, '"rows": "of \\u202eselect 1"'),
    ],
)
def test_a_person_at_a_terminal_is_asked_once_more(
    database: ProjectFolder, options: list[str], typed: bytes, ran: bool, says: str
) -> None:
    token, _ = asked(database, "select 1")
    said = at_a_terminal(database, ["approve", token, *options], typed, environment={"NO_COLOR": "1"})
    assert '"query": "select 1"' in said
    assert ("run it? [y/N]" in said) == bool(typed)
    assert says in said
    assert (database.path / "ran").exists() == ran
    assert len(database.run("approve").out.splitlines()) == (2 if "the call was not answered" in said else 0)
