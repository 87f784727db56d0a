"""The service that owns a toolset, and the agent that implements it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolgen.contract.record import frozen_record

from ...agents import Agent, Export, Use
from ...clause import Clause
from ...expr import codes
from ...services import Service
from ...structure import Toolset
from ..clause_lookup import clauses_of_kind
from ..report import RelatedSource, Report


@frozen_record
class OwnedToolset:
    """A toolset with its owner."""

    clause: Toolset
    service: Service
    exporter: str = ""
    """Id of the agent that implements it."""


def agent_id(service: Service, agent: Agent) -> str:
    return f"{service.name}.{agent.name}"


def owned_toolsets(services: Sequence[Service], report: Report) -> list[OwnedToolset]:
    """Return every toolset with its owner: the service that lists it, or the service of its first agent.

    Listed toolsets come first; otherwise the order is the order of discovery. A toolset with two owners is
    reported.
    """
    exporters = _exporters(services, report)
    owners: dict[int, OwnedToolset] = {}
    for service in services:
        for clause in clauses_of_kind(service.children, Toolset):
            previous = owners.get(id(clause))
            if previous is not None and previous.service is not service:
                _report_two(clause, previous.service, service, report)
            elif previous is None:
                owners[id(clause)] = OwnedToolset(
                    clause=clause, service=service, exporter=exporters.get(id(clause), "")
                )
    for kind in (Export, Use):
        for service, _, clause in _mentioned(services, kind):
            if id(clause) not in owners:
                owners[id(clause)] = OwnedToolset(
                    clause=clause, service=service, exporter=exporters.get(id(clause), "")
                )
    return list(owners.values())


def _exporters(services: Sequence[Service], report: Report) -> dict[int, str]:
    """Return the agent that exports each toolset; report a toolset with two."""
    exporters: dict[int, tuple[str, Clause]] = {}
    for service, agent, clause in _mentioned(services, Export):
        id_ = agent_id(service, agent)
        first = exporters.setdefault(id(clause), (id_, agent))
        if first[0] != id_:  # by id: an agent in two services counts as two agents
            report.add(
                codes.TWO_EXPORTERS,
                clause.source,
                related=[
                    RelatedSource(message=f"agent {name!r} is defined here", source=place.source)
                    for name, place in (first, (id_, agent))
                ],
                name=clause.name,
                first=first[0],
                second=id_,
            )
    return {key: id_ for key, (id_, _) in exporters.items()}


def _mentioned(
    services: Sequence[Service], kind: type[Export] | type[Use]
) -> Iterator[tuple[Service, Agent, Toolset]]:
    for service in services:
        for agent in clauses_of_kind(service.children, Agent):
            for clause in clauses_of_kind(agent.children, kind):
                if isinstance(clause.toolset, Toolset):
                    yield service, agent, clause.toolset


def _report_two(clause: Toolset, first: Service, second: Service, report: Report) -> None:
    report.add(
        codes.TWO_OWNERS,
        clause.source,
        related=[
            RelatedSource(message=f"service {service.name!r} is defined here", source=service.source)
            for service in (first, second)
        ],
        name=clause.name,
        first=first.name,
        second=second.name,
    )
