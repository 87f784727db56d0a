"""Suspended calls that this client cannot answer, and the texts about them for the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from mcp import types

from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import UNAVAILABLE
from toolgen.runtime import Runtime, Suspended
from toolgen.waiting.unfit import waiting_message

from .identity import Context
from .results import error_result

Approvals = Literal["out_of_band", "elicitation"]
"""Approver: a person elsewhere, for example with `toolgen approve`, or the client's answer to an elicitation.

A client might let its model answer, so an elicitation counts as an approval only if the host allows it.
"""
WhyNot = Literal["kept", "no_client", "no_engine"]
"""Reason for not asking: others can answer the stored call, or nobody can be asked and it is cancelled."""


def known_approvals(approvals: Approvals) -> Approvals:
    """Return `approvals` after validation.

    Raises:
        ToolgenError: It is neither value, and must not be treated as the weaker one.
    """
    if approvals not in get_args(Approvals):
        raise ToolgenError(
            f"approvals is {approvals!r}", hint='write approvals="out_of_band" or approvals="elicitation"'
        )
    return approvals


def cannot_ask(suspended: Suspended, ctx: Context, approvals: Approvals, runtime: Runtime) -> WhyNot | None:
    """Return why the client is not asked; None if it is asked."""
    if suspended.kind == "pending":
        return "kept"  # the worker delivers the result
    if suspended.kind == "credential" or (suspended.kind == "confirmation" and approvals != "elicitation"):
        return "kept" if stores_suspensions(runtime) else "no_engine"
    return None if shows_forms(ctx.session.client_capabilities) else "no_client"


def stores_suspensions(runtime: Runtime) -> bool:
    """Return whether suspended calls outlive the process, so that they can be answered elsewhere."""
    return runtime.engine is not None and runtime.engine.caps.is_durable


def shows_forms(capabilities: types.ClientCapabilities | None) -> bool:
    """Return whether a client can show forms to people (MCP 2025-11-25, Elicitation, Capabilities)."""
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def stored_result(suspended: Suspended, why: str = "") -> types.CallToolResult:
    """Return the result of a call that stays suspended until it is answered elsewhere."""
    if suspended.kind == "pending":
        message = (
            "the work continues, but this call does not return its result; do not call it again for "
            "the same work"
        )
        return error_result(message, "pending", id=suspended.id)
    what = "approval by a person" if suspended.kind == "confirmation" else "an answer"
    if suspended.kind == "credential":
        what = "a credential"
    reason = f": {why}" if why else ""
    message = (
        f"it needs {what}, which this server does not accept from its client{reason}. It is suspended "
        f"as {suspended.id}; `toolgen approve {suspended.id}` on the server shows and answers it, and it "
        "then runs there. Do not call it again for the same work."
    )
    return error_result(message, UNAVAILABLE, id=suspended.id)


def unfit_result(suspended: Suspended, why: str) -> types.CallToolResult:
    """Return the result of a call that stays suspended after its client's answers were rejected."""
    message = waiting_message(replace(suspended, reason=why or suspended.reason))
    return error_result(message, UNAVAILABLE, id=suspended.id)


def waiting_below_result(suspended: Suspended) -> types.CallToolResult:
    """Return the result of a call to an agent whose run is suspended until it is answered elsewhere."""
    message = (
        f"the agent that does it waits for an answer about {suspended.tool}, suspended as {suspended.id}; "
        f"`toolgen approve {suspended.id}` on the server shows and answers it. The agent then continues, "
        "but this call does not return its result; do not call it again for the same work"
    )
    if suspended.kind == "pending":
        message = (
            f"the agent that does it waits for work of {suspended.tool} that continues elsewhere. This "
            "call does not return its result; do not call it again for the same work"
        )
    return error_result(message, "pending", id=suspended.id)


def withdrawn_result(suspended: Suspended, why: str) -> types.CallToolResult:
    """Return the denied result of a call that nobody could be asked about; the call is cancelled."""
    what = "approval by a person" if suspended.kind == "confirmation" else "an answer from a person"
    return error_result(f"it needs {what}, but {why}", UNAVAILABLE)
