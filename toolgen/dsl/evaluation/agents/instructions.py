"""Instructions of agents, in which names in braces refer to values of the state."""

from __future__ import annotations

import re
from typing import Final

from ...agents import Agent
from ...behaviour import Instructions
from ...expr import codes
from ..clause_lookup import clauses_of_kind
from ..report import Report
from ..tools.facts import instructions_of

_BRACES: Final = re.compile(r"\{\{|\}\}|\{([^{}]{1,80})\}")
"""Doubled braces, or single ones with their content."""
_KEY: Final = re.compile(r"(?:(?:app|user|session|temp):)?[A-Za-z_]\w*\??")
"""A reference to a state value, as `agents.instructions` reads it."""
_LIKE_A_KEY: Final = re.compile(r"(?:[A-Za-z_][\w .-]*|\w+:(?!\s)[\w .:-]*)\??")
"""A text in braces that is probably meant as a state value: words, or a scope and words."""


def agent_instructions(agent: Agent, report: Report) -> str:
    """Return the instructions of an agent; report braces that are almost a reference to a state value."""
    text = instructions_of(agent, report)
    for match in _BRACES.finditer(text):
        inner = match[1]
        if inner is not None and _LIKE_A_KEY.fullmatch(inner) and not _KEY.fullmatch(inner):
            clause = clauses_of_kind(agent.children, Instructions)[0]
            report.add(codes.NO_STATE_KEY, clause.source, agent=agent.name, text=match[0])
    return text
