"""`toolgen approve` of a call that waits for a credential, which is typed unseen, or piped."""

from __future__ import annotations

import pytest

from .conftest import ProjectFolder
from .terminal import at_a_terminal

MAIN = '''\
from toolgen.capabilities import CredentialsCapability, EnvironmentCredentials, SqliteCredentialStore
from toolgen.contract.transport import Requirement, SecurityScheme
from toolgen.engines import InProcessEngine
from toolgen.capabilities import CredentialNeededError
from toolgen.runtime import Runtime, ToolContext, ToolError
from toolgen.runtime.functions import func_tool, function_toolset

KEY = Requirement(SecurityScheme(name="key", kind="{kind}", key="X-Key"))


async def get(ctx: ToolContext) -> str:
    """Get a book."""
    credential = await ctx.credentials.get("books", KEY)
    if credential is None:
        raise CredentialNeededError("books", KEY, "https://books.example")
    if len(credential.secret) == 18:
        return f"{{credential.username}}, {{len(credential.secret)}}"
    raise ToolError(f"{{credential.secret}} is wrong")


def runtime() -> Runtime:
    store = SqliteCredentialStore("credentials.db", secret=b"s" * 32)
    environment = EnvironmentCredentials({{}})
    made = Runtime(
        engine=InProcessEngine("runs.db"),
        capabilities=[CredentialsCapability(store, environment=environment)],
    )
    made.tools.register(function_toolset("library.books", [func_tool(get)]))
    return made
'''
SECRET = "secret:key-8d2f1c9"


def waiting(project: ProjectFolder, kind: str) -> str:
    """Return the id of a call that waits for a credential."""
    project.write("app/main.py", MAIN.format(kind=kind))
    done = project.run("call", "get", "{}", "--session", "s", "--label", "user=ann")
    assert (done.code, done.out) == (3, "")
    assert f"the {'password' if kind == 'basic' else 'API key'} 'key', which is missing" in done.err
    (line,) = [line for line in done.err.splitlines() if line.startswith("answer it with: toolgen approve ")]
    return line.split()[5]


def assert_hidden(project: ProjectFolder, *said: str) -> None:
    """Assert that no file has the credential, and nothing that was said."""
    assert SECRET not in "".join(said)
    for file in project.path.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [("api_key", f"{SECRET}\n", '", 18"\n'), ("basic", f"jo:{SECRET}\n", '"jo, 18"\n')],
    ids=["key", "basic"],
)
def test_it_is_read_from_stdin(project: ProjectFolder, kind: str, text: str, shown: str) -> None:
    id_ = waiting(project, kind)
    done = project.run("approve", id_, piped=text)
    assert (done.code, done.out) == (0, shown)
    assert_hidden(project, done.out, done.err)
    assert project.run("call", "get", "{}", "--session", "t", "--label", "user=ann").out == shown


@pytest.mark.exhaustive
def test_it_is_typed_unseen(project: ProjectFolder) -> None:
    id_ = waiting(project, "basic")
    replies = {b"user of books: ": b"jo\n", b"hidden: ": f"{SECRET}\n".encode()}
    said = at_a_terminal(project, ["approve", id_, "--scope", "session"], replies=replies)
    assert "user of books: " in said
    assert "key of books, hidden: " in said
    assert '"jo, 18"' in said
    assert_hidden(project, said)
    assert project.run("call", "get", "{}", "--session", "s").out == '"jo, 18"\n'


def test_one_that_an_error_quotes_is_hidden(project: ProjectFolder) -> None:
    id_ = waiting(project, "api_key")
    done = project.run("approve", id_, piped=f"{SECRET}-wrong\n")
    assert (done.code, done.out) == (1, '{"error":"•••• (sensitive) is wrong"}\n')
    assert_hidden(project, done.out, done.err)


def test_no_credential_is_no_answer(project: ProjectFolder) -> None:
    id_ = waiting(project, "api_key")
    done = project.run("approve", id_)
    assert (done.code, done.out) == (2, "")
    assert "no credential was entered; nothing was answered" in done.err
    done = project.run("approve", id_, "--answer", '"a secret"')
    assert done.code == 2
    assert "the answer must not contain the credential" in done.err
    assert id_ in project.run("approve").out
    assert project.run("approve", id_, "--cancel").code == 0
