"""The limits of an agent's runs."""

from __future__ import annotations

from toolgen.contract.policy import History as CheckedHistory
from toolgen.contract.policy import RunPolicy as CheckedRunPolicy

from ...agents import Agent, History, RunPolicy
from ...expr import codes
from ...expr.tree import UsedToolset
from ..clause_lookup import single_clause
from ..report import Report
from ..tools.facts import seconds


def policy_of(agent: Agent, uses: tuple[UsedToolset, ...], report: Report) -> CheckedRunPolicy:
    """Return the limits; report limits below 1, and limits that contradict each other."""
    clause = single_clause(agent, agent.children, RunPolicy, report)
    if clause is None:
        return CheckedRunPolicy()
    for what in ("max_tool_calls", "max_consecutive_failed_tool_calls"):
        _check_count(what, getattr(clause, what), clause, agent, report)
    budget, plan, tool = (
        _time(what, getattr(clause, what), clause, agent, report)
        for what in ("time_budget", "plan_timeout", "tool_timeout")
    )
    _check_within(clause, agent, uses, budget, {"plan_timeout": plan, "tool_timeout": tool}, report)
    return CheckedRunPolicy(
        max_tool_calls=clause.max_tool_calls,
        max_consecutive_failed_tool_calls=clause.max_consecutive_failed_tool_calls,
        time_budget=budget,
        plan_timeout=plan,
        tool_timeout=tool,
        interrupts_allowed=clause.interrupts_allowed,
        on_missing_fields=clause.on_missing_fields,
        history=_history(clause.history, agent, report) if clause.history else None,
    )


def _check_count(
    what: str, value: int | None, clause: RunPolicy | History, agent: Agent, report: Report
) -> None:
    if value is not None and value < 1:
        _add(what, value, "it must be at least 1", "write a number above 0", clause, agent, report)


def _time(what: str, value: str | None, clause: RunPolicy, agent: Agent, report: Report) -> float | None:
    if value is None:
        return None
    return seconds(value, f"{what} of agent {agent.name!r}", clause.source, report)


def _check_within(
    clause: RunPolicy,
    agent: Agent,
    uses: tuple[UsedToolset, ...],
    budget: float | None,
    parts: dict[str, float | None],
    report: Report,
) -> None:
    """Report a time limit that is longer than the limit of the run."""
    if budget is None:
        return
    for what, part in parts.items():
        if part is not None and part > budget:
            fault = f"the time_budget of the run is {budget:g} s"
            hint = "lower it, or raise time_budget"
            _add(what, f"{part:g} s", fault, hint, clause, agent, report)
    for used in (used for use in uses for used in use.tools):
        timeout = used.tool.facts.timeout
        if timeout is not None and timeout > budget:
            fault = f"the Timeout of its tool {used.tool.name!r} is {timeout:g} s"
            hint = "raise time_budget, or lower the Timeout"
            _add("time_budget", f"{budget:g} s", fault, hint, clause, agent, report)


def _history(clause: History, agent: Agent, report: Report) -> CheckedHistory:
    for what in ("keep_turns", "keep_tokens"):
        _check_count(what, getattr(clause, what), clause, agent, report)
    for what, most, name in (
        ("summarize_after", clause.keep_turns, "keep_turns"),
        ("summarize_at", clause.keep_tokens, "keep_tokens"),
    ):
        limit = getattr(clause, what)
        if limit is not None and clause.keep_turns is None and clause.keep_tokens is None:
            fault = "neither keep_turns nor keep_tokens is set"
            _add(what, limit, fault, f"add {name}", clause, agent, report)
        elif limit is not None and most is not None and limit < most:
            fault = f"{name}={most} keeps more than that unsummarized"
            _add(what, limit, fault, f"write at least {name}", clause, agent, report)
    return CheckedHistory(
        keep_turns=clause.keep_turns,
        summarize_after=clause.summarize_after,
        keep_tokens=clause.keep_tokens,
        summarize_at=clause.summarize_at,
    )


def _add(
    what: str,
    value: object,
    fault: str,
    hint: str,
    clause: RunPolicy | History,
    agent: Agent,
    report: Report,
) -> None:
    report.add(
        codes.BAD_LIMIT,
        clause.source,
        what=what,
        clause=type(clause).__name__,
        agent=agent.name,
        value=value,
        fault=fault,
        hint=hint,
    )
