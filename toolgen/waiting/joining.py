"""Runs of named calls that callers in several processes wait for."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from toolgen.calls.call_names import CallNameError
from toolgen.calls.steps.dispatch import CANCELLED
from toolgen.runs import Engine, UnsettledAnswerError, WaitOverError

from .loop import CallDocument, call_of

_AT_ONCE: Final = (
    "another call of this name began at once, of another tool or with other arguments; this one did not"
)
_JOINED: Final = "joined"
"""The operation that a process answers which joins the run of another one; no wait takes the answer."""


async def join(engine: Engine, run_id: str, call: CallDocument, process: str) -> bool:
    """Join the run of a named call; return whether another process has begun it, which lets it go on then.

    Raises:
        CallNameError: it is the run of another call, which has begun under the name at once.
        UnknownRunError: no run has the id.
    """
    status = await engine.status(run_id)
    given: Any = status.input
    if not _is_of(given, call):
        raise CallNameError(_AT_ONCE)
    if given.get("process") == process:
        return False
    if status.state == "running":
        with suppress(WaitOverError, UnsettledAnswerError):  # it is over, or the answer is on its way
            await engine.answer(run_id, _JOINED, process, key=_JOINED)
    return True


async def leave(engine: Engine, run_id: str, call: CallDocument, process: str) -> None:
    """Cancel the run of a call whose callers here are cancelled, unless another process began or joined it.

    Raises:
        UnknownRunError: no run has the id.
    """
    given: Any = (await engine.status(run_id)).input
    is_own = _is_of(given, call) and given.get("process", process) == process
    if is_own and await engine.kept_answer(run_id, _JOINED) is None:
        await engine.cancel(run_id, reason=CANCELLED)


def _is_of(given: Any, call: CallDocument) -> bool:
    made = call_of(given)
    return (made["tool"], made["arguments"]) == (call["tool"], call["arguments"])
