"""Grants: an answer to an approval that counts for further calls of its session as well."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from toolgen.calls.answer_schema import value_issues
from toolgen.calls.argument_patterns import ArgumentPattern, PatternError, unknown_argument
from toolgen.calls.call import CallMeta, FrozenCall
from toolgen.calls.results import Suspended
from toolgen.calls.specs import ToolSpec
from toolgen.contract.json_pointer import tokens_of
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.shapes.sensitive import EVERY, pointers_of

from .errors import BadAnswerError
from .options import WaitOptions
from .wait_registry import WaitRegistry

GRANT: Final = "grant"
"""Field of an answer to an approval, and use name of the seal of a grant."""
_FIX: Final = "answer without `grant` to approve this call only"

log = logger("toolgen.runtime")


@frozen_record
class Grant:
    """An approval that counts for further calls of its tool in its session."""

    id: str
    tool: str
    """Id of the tool."""
    session_id: str
    requested_by: str
    """The person for whom the calls are made; "" if the host does not name one."""
    agent: str
    """Id of the agent that makes the calls; "" for direct calls."""
    granted_by: str
    """The person who granted."""
    granted_at: float
    expires_at: float
    """Seconds since 1970; so is `granted_at`."""
    uses: int
    """Maximum number of calls."""
    used: int = 0
    """Number of calls that have used it."""
    pattern: ArgumentPattern | None = None
    """Pattern of the covered arguments; None for calls with any arguments."""
    labels: Mapping[str, str]
    """Labels that a covered call must have, for example a tenant."""
    approval_digest: str
    """`ToolSpec.approval_digest` of the tool that was approved."""

    @property
    def approved_by(self) -> str:
        """Sentence without a full stop that names the approver and the time."""
        at = datetime.fromtimestamp(self.granted_at, UTC)
        return f"approved by {self.granted_by} at {at:%Y-%m-%d %H:%M:%S} UTC"

    def shown(self) -> dict[str, Json]:
        """Return the grant as clients see it."""
        names = "id tool session_id agent requested_by granted_by granted_at expires_at uses used".split()
        covered = self.pattern.describe() if self.pattern else "any arguments"
        pattern = self.pattern and self.pattern.to_json()
        return {**{name: getattr(self, name) for name in names}, "pattern": pattern, "covers": covered}


def covers(grant: Grant, spec: ToolSpec, meta: CallMeta, payload_json: bytes) -> bool:
    """Return whether a grant covers a call, apart from its expiry and its number of uses."""
    facts = (spec.id, spec.approval_digest, meta.session_id, meta.requested_by, meta.agent)
    own = (grant.tool, grant.approval_digest, grant.session_id, grant.requested_by, grant.agent)
    if facts != own or dict(meta.labels) != dict(grant.labels) or why_not_granted(spec, grant.pattern):
        return False
    return grant.pattern is None or grant.pattern.matches(json.loads(payload_json))


def grant_schema(spec: ToolSpec, options: WaitOptions) -> dict[str, Json]:
    """Return the JSON Schema of a grant in the answer to an approval of a tool."""
    pattern = "Conditions on the arguments, by JSON Pointer: equal, one_of or path_prefix."
    lifetime = f"Seconds until it expires (maximum {options.max_grant_s:g})."
    calls = f"Number of further calls (maximum {options.max_grant_uses})."
    return {
        "type": "object",
        "description": "Approves further calls of the tool in this session.",
        "properties": {
            "pattern": {"type": "object", "description": pattern},
            "expires_s": {"type": "number", "description": lifetime},
            "uses": {"type": "integer", "description": calls},
        },
        "required": [*(["pattern"] if spec.hints["destructive"] else []), "expires_s", "uses"],
        "additionalProperties": False,
    }


def without_grant(suspended: Suspended) -> dict[str, Json]:
    """Return the answer schema for a peer, without `grant`."""
    schema = suspended.answer_schema
    properties = schema.get("properties", {})
    if suspended.kind != "confirmation" or GRANT not in properties:
        return dict(schema)
    return {**schema, "properties": {name: part for name, part in properties.items() if name != GRANT}}


def why_not_granted(spec: ToolSpec, pattern: ArgumentPattern | None) -> str:
    """Return the reason why a grant with this pattern is not valid for a tool; "" if it is."""
    confirm = spec.confirm
    if confirm is None or not confirm.grantable:
        return f"the design of {spec.id} does not allow grants: Confirm(…, grantable=True)"
    if confirm.payload is not None:
        return f"each approval of {spec.id} has a payload, which a grant cannot supply"
    if pattern is None:
        return (
            f"{spec.id} is destructive, so a grant needs a pattern for its arguments"
            if spec.hints["destructive"]
            else ""
        )
    for pointer in pointers_of(spec.payload.sensitive):
        for place in pattern.places:
            steps = zip(tokens_of(place), tokens_of(pointer), strict=False)
            if all(step == sensitive or sensitive == EVERY for step, sensitive in steps):
                return f"the pattern compares {place or 'the entire arguments object'!r}, which is sensitive"
    return ""


async def may_be_granted(waits: WaitRegistry, spec: ToolSpec, frozen: FrozenCall) -> bool:
    """Return whether the answer to a question can grant further calls: by the design and the host's rule."""
    is_allowed = spec.confirm is not None and spec.confirm.grantable and spec.confirm.payload is None
    is_asked = frozen.kind == "confirmation" and not frozen.is_asked_by_tool and frozen.meta.session_id != ""
    return is_allowed and is_asked and await may_approve(waits, frozen, frozen.meta.requested_by)


def granted_terms(frozen: FrozenCall | None, answer: Json) -> Any:
    """Return the terms of the grant in an answer to an approval; None for an answer without one.

    In an answer to another question, and in a result of pending work, a field with this name belongs to the
    tool.
    """
    is_approval = frozen is not None and frozen.kind == "confirmation"
    return answer.get(GRANT) if is_approval and isinstance(answer, dict) else None


def refuse_grant_of_peer(options: WaitOptions, frozen: FrozenCall | None, answer: Json) -> None:
    """Check that an answer that comes through MCP or a framework can grant further calls.

    Raises:
        BadAnswerError: the answer grants further calls, but the host does not allow that.
    """
    if granted_terms(frozen, answer) is not None and not options.peers_may_grant:
        raise BadAnswerError(
            "on this host, answers that come through MCP or a framework cannot grant further calls", hint=_FIX
        )


async def require_grant(
    waits: WaitRegistry, spec: ToolSpec | None, frozen: FrozenCall, answer: Json, by: str
) -> None:
    """Check the grant in an answer, if there is one.

    Raises:
        BadAnswerError: the grant is not valid; the call stays suspended.
    """
    terms = granted_terms(frozen, answer)
    if terms is None or not isinstance(answer, dict):
        return
    schema = frozen.answer_schema.get("properties", {}).get(GRANT)
    if schema is None:
        raise BadAnswerError(
            f"this approval of {frozen.tool} cannot grant further calls: the design must allow it with "
            "Confirm(…, grantable=True) and no payload, the call must have a session, and its "
            "requester must be allowed to approve it",
            hint=_FIX,
        )
    issues = tuple(
        replace(issue, keys=(GRANT, *issue.keys)) for issue in value_issues(schema, terms, 20, schema)
    )
    if issues:
        raise BadAnswerError(f"the answer does not fit: {'; '.join(map(str, issues))}", issues)
    most = {"expires_s": waits.options.max_grant_s, "uses": waits.options.max_grant_uses}
    for name, limit in most.items():
        if not 0 < terms[name] <= limit:
            raise BadAnswerError(f"{GRANT}.{name} must be greater than 0 and at most {limit:g}", hint=_FIX)
    if answer.get("approved") is not True:
        raise BadAnswerError("an answer that does not approve the call cannot grant further calls", hint=_FIX)
    if not by:
        raise BadAnswerError("a grant needs the name of the person who gives it", hint="answer with by=…")
    pattern = pattern_of(terms)
    if spec is not None:
        why = why_not_granted(spec, pattern)
        if pattern is not None:
            why = why or unknown_argument(pattern, spec.payload.schema, spec.id)
        if why:
            raise BadAnswerError(f"the grant is rejected: {why}", hint=_FIX)
    if not await may_approve(waits, frozen, frozen.meta.requested_by):
        raise BadAnswerError(
            "the rule of this host requires a second person for each approval, so calls cannot be granted",
            hint=_FIX,
        )


def pattern_of(grant: Mapping[str, object]) -> ArgumentPattern | None:
    """Return the pattern of a grant in an answer.

    Raises:
        BadAnswerError: it is not a valid pattern.
    """
    if grant.get("pattern") is None:
        return None
    try:
        return ArgumentPattern.from_json(grant["pattern"], f"{GRANT}.pattern")
    except PatternError as error:
        raise BadAnswerError(f"the answer does not fit: {error.message}", hint=_FIX) from None


async def may_approve(waits: WaitRegistry, frozen: FrozenCall, person: str) -> bool:
    """Return whether the rule of the host lets a person approve a call."""
    if (rule := waits.options.rule) is None:
        return True
    try:
        reason = rule(Suspended(**frozen.shown(), token=""), {"approved": True}, person)
        return not (await reason if inspect.isawaitable(reason) else reason)
    except Exception:  # author code; nothing is granted
        log.exception("the host's answer rule failed for %s", frozen.tool)
        return False
