"""The sides of `toolgen breaking`: the current design, with the places of its clauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import field, replace
from typing import Any, Final, Literal

from toolgen.checks.compatibility import BY_CODE, Contract, ContractChange, contract_of_server
from toolgen.checks.compatibility.contracts import wire_name
from toolgen.codegen import catalog_text
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import NOWHERE, Format, Place
from toolgen.contract.json_pointer import tokens_of
from toolgen.contract.record import frozen_record
from toolgen.dsl import Agent, Args, Attribute, Breaks, Design, Return, Service, Tool, Toolset, build
from toolgen.dsl.clause import Clause
from toolgen.dsl.evaluation.clause_lookup import walk

from .config import Project
from .load import load_design
from .outcome import Outcome, reported
from .references import Side, side_of
from .sarif import sarif_text

_PARTS: Final = {"payload": Args, "result": Return}
"""Clause of a tool that contains the attributes of a part of its entry."""


@frozen_record(kw_only=False)
class Clauses:
    """Clauses of a design: its tools by id, and its agents by name."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    agents: Mapping[str, Agent] = field(default_factory=dict)
    design: Design | None = None
    names: Set[str] = frozenset()
    """The keys of `tools` that are wire names."""

    def place(self, change: ContractChange) -> Place:
        """Return the place of a change's clause: an argument, a tool, an agent, or otherwise the design."""
        tool = self.tools.get(change.tool)
        if tool is None:
            is_agent = change.tool.count(".") == 1 and not change.code.startswith("completion")
            agent = self.agents.get(change.tool.rpartition(".")[2]) if is_agent else None
            clause = agent or self.design
            return clause.source.located() if clause else NOWHERE
        part, *keys = tokens_of(change.after or change.before) or [""]
        name = change.argument.partition(".")[0].removesuffix("[]")
        if keys[:2] == ["schema", "properties"] and len(keys) == 3:  # the new name of a renamed argument
            name = keys[2]
        parts = [each for each in tool.children if isinstance(each, _PARTS.get(part, Clause))]
        inside = (inner for each in parts for inner in walk(each, set()))
        attributes = (each for each in inside if isinstance(each, Attribute) and each.name == name)
        return next(attributes, tool).source.located()

    def of_names(self, contract: Contract) -> Clauses:
        """Return the clauses with wire names of tools as additional keys, because servers list wire names."""
        tools = {
            wire_name(entry): self.tools[id_] for id_, entry in contract.tools.items() if id_ in self.tools
        }
        return replace(self, tools={**self.tools, **tools}, names=frozenset(tools))

    def reason(self, change: ContractChange) -> str:
        """Return the reason for which the design accepts a change; "" if it does not."""
        tool = self.tools.get(change.tool)
        clauses = _breaks_of(tool) if tool else []
        return next((each.reason for each in clauses if not each.codes or change.code in each.codes), "")

    def unused(self, changes: Iterable[ContractChange]) -> Iterator[str]:
        """Yield a sentence for each code of a `Breaks`, or each one without codes, that matches no change."""
        codes: dict[int, set[str]] = {}
        for change in changes:
            codes.setdefault(id(self.tools.get(change.tool)), set()).add(change.code)
        for id_, tool in self.tools.items():
            if id_ in self.names:
                continue
            for clause in _breaks_of(tool):
                has = codes.get(id(tool), set())
                if not clause.codes and not has:
                    yield f"Breaks({clause.reason!r}) of {id_} matches no change"
                for code in clause.codes:
                    if code not in BY_CODE:
                        yield f"Breaks of {id_} has an unknown code: {code!r}"
                    elif code not in has:
                        yield f"Breaks of {id_} matches no change of the code {code!r}"


def design_side(project: Project, format: Format | Literal["sarif"]) -> tuple[Side, Clauses] | Outcome:
    """Return the contract of the current design, or the findings if the design has errors.

    Raises:
        ToolgenError: the design cannot be imported.
    """
    design = load_design(project)
    evaluation = build(design)
    if evaluation.design is None:
        wrong, summary = evaluation.diagnostics, "the design has errors"
        if format == "sarif":
            return Outcome(code=1, output=sarif_text(wrong), summary=summary)
        return reported(wrong, format, code=1, summary=summary)
    text = catalog_text(evaluation.design)
    agents = {clause.name: clause for clause in walk(design, set()) if isinstance(clause, Agent)}
    return side_of(text, project.design), Clauses(_tools_of(design), agents, design)


def _tools_of(design: Design) -> dict[str, Tool]:
    """Return the tools by id; a toolset belongs to the service that lists it, or to its first user."""
    services = [each for each in design.children if isinstance(each, Service)]
    owners: dict[int, tuple[str, Toolset]] = {}
    listed = [(service, each) for service in services for each in service.children]
    for service, clause in (*listed, *((each, inner) for each in services for inner in walk(each, set()))):
        if isinstance(clause, Toolset):
            owners.setdefault(id(clause), (service.name, clause))
    return {
        f"{service}.{toolset.name}.{tool.name}": tool
        for service, toolset in owners.values()
        for tool in toolset.children
        if isinstance(tool, Tool)
    }


def _breaks_of(tool: Tool) -> list[Breaks]:
    return [each for each in tool.children if isinstance(each, Breaks)]


def as_server(side: Side) -> Side:
    """Return a side as an MCP server would list it: only names, arguments and results of tools.

    Raises:
        ToolgenError: two tools have the same name.
    """
    if side.is_server:
        return side
    ids: dict[str, str] = {}
    for id_, entry in side.contract.tools.items():
        if ids.setdefault(name := wire_name(entry), id_) != id_:
            raise ToolgenError(
                f"{ids[name]!r} and {id_!r} are both called {name!r}, and a server lists one tool of a name",
                hint="compare with a catalog or a revision, or give a toolset a prefix",
            )
    listed = [_listed(entry) for entry in side.contract.tools.values() if "payload" in entry]
    return replace(side, contract=contract_of_server(listed, side.contract.version), is_server=True)


def _listed(entry: Mapping[str, Any]) -> dict[str, Any]:
    listed = {key: entry[key] for key in ("name", "title", "description", "annotations") if key in entry}
    result = entry.get("output") or entry.get("result", {}).get("schema")
    listed["inputSchema"] = entry["payload"].get("schema", True)
    return listed if result is None else {**listed, "outputSchema": result}
