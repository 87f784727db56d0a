"""The tokens that the tools of an agent add to each request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolgen.contract.tokens import declaration_text, estimated_tokens
from toolgen.shapes.fields import ObjectType
from toolgen.shapes.tree.schema import SchemaParts

from ...agents import Agent, Budget
from ...expr import codes
from ...expr.tree import Agent as CheckedAgent
from ...expr.tree import Service as CheckedService
from ...expr.tree import UsedToolset
from ...services import Service
from ..clause_lookup import clauses_of_kind, single_clause
from ..report import Report

_MOST_NAMED = 3


def check_budgets(
    service: Service, checked: CheckedService, shared: Mapping[str, ObjectType], report: Report
) -> None:
    """Report the agents of a service whose tools need more tokens than their `Budget` allows."""
    agents = {agent.name: agent for agent in checked.agents}
    for clause in clauses_of_kind(service.children, Agent):
        budget = single_clause(clause, clause.children, Budget, report)
        if budget and clause.name in agents:
            _check(budget, agents[clause.name], shared, report)


def _check(budget: Budget, agent: CheckedAgent, shared: Mapping[str, ObjectType], report: Report) -> None:
    if budget.tools_tokens < 1:
        report.add(
            codes.BAD_LIMIT,
            budget.source,
            what="tools_tokens",
            clause="Budget",
            agent=agent.name,
            value=budget.tools_tokens,
            fault="it must be at least 1",
            hint="write a number above 0",
        )
        return
    tokens = _tokens(agent.uses, shared)
    total = sum(tokens.values())
    if total > budget.tools_tokens:
        largest = sorted(tokens, key=lambda name: -tokens[name])[:_MOST_NAMED]
        report.add(
            codes.TOOLS_BUDGET,
            budget.source,
            agent=agent.name,
            tokens=total,
            limit=budget.tools_tokens,
            largest=", ".join(f"{name} ({tokens[name]})" for name in largest),
        )


def _tokens(uses: Sequence[UsedToolset], shared: Mapping[str, ObjectType]) -> dict[str, int]:
    """Return the approximate number of tokens for each tool of an agent, by its wire name."""
    schemas = SchemaParts()
    tokens = {}
    for used in uses:
        objects = {**shared, **{object_.name: object_ for object_ in used.toolset.objects}}
        for tool in used.tools:
            schema = schemas.schema(tool.tool.payload, objects)
            text = declaration_text(tool.name, tool.tool.facts.description, schema)
            tokens[tool.name] = estimated_tokens(text)
    return tokens
