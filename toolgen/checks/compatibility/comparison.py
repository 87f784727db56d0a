"""All changes between two contracts, in the order of the new side, removals first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .arguments import argument_changes
from .changes import ContractChange, change, key_of
from .containment import contains
from .contracts import Contract, canonical, hints_of, wire_name
from .guards import approval_changes, guard_changes, policy_changes, remaining_changes, text_changes
from .masks import mask_changes
from .results import artifact_changes, error_changes, late_changes, removed_fields, result_changes

Entry = Mapping[str, Any]


def compare(before: Contract, after: Contract) -> list[ContractChange]:
    """Return the changes from one contract to another; empty if both are equal."""
    moved = _moved(before.tools, after.tools)
    return [
        *_tools(before, after, moved),
        *_agents(before, after, moved),
        *_completions(before, after),
    ]


def _moved(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> dict[str, str]:
    """Map old ids of tools or agents to new ids with the same name; the most similar id wins."""
    removed = {id_: wire_name(entry) for id_, entry in before.items() if id_ not in after}
    new = {id_: wire_name(entry) for id_, entry in after.items() if id_ not in before}
    pairs = [(id_, other) for id_ in removed for other in new if removed[id_] == new[other]]
    moved: dict[str, str] = {}
    for id_, other in sorted(pairs, key=_nearness, reverse=True):
        if id_ not in moved and other not in moved.values():
            moved[id_] = other
    return moved


def _nearness(ids: tuple[str, str]) -> int:
    """Return how many parts of two ids are equal: the service, the toolset and the tool."""
    return sum(map(str.__eq__, *(id_.split(".") for id_ in ids)))


def _tools(before: Contract, after: Contract, moved: Mapping[str, str]) -> Iterator[ContractChange]:
    for id_, entry in before.tools.items():
        if id_ in after.tools:
            continue
        if id_ in moved:
            message = f"its id was {id_!r} before; models still call it {wire_name(entry)!r}"
            yield change("tool-moved", moved[id_], message)
        else:
            yield change("tool-removed", id_, "the tool was removed")
    for id_ in after.tools:
        if id_ not in before.tools and id_ not in moved.values():
            yield change("tool-added", id_, "the tool was added")
    for id_, entry in before.tools.items():
        other = moved.get(id_, id_)
        if other in after.tools:
            yield from tool_changes(other, entry, after.tools[other], (before, after))


def tool_changes(
    tool: str, before: Entry, after: Entry, sides: tuple[Contract, Contract]
) -> Iterator[ContractChange]:
    """Yield the changes of one tool; a part that is nested too deeply does not hide other changes."""
    if _is_same(before, after):
        return
    kinds = [entry.get("kind") == "native" for entry in (before, after)]
    if kinds[0] != kinds[1] or ("payload" in before and "payload" not in after):
        who = "the model's provider now runs it" if kinds[1] else "it is now another kind of tool"
        yield change("tool-removed", tool, f"the tool was removed: {who}")
        yield from (each for each in guard_changes(tool, before, after) if each.rule.is_weakening)
        return
    if wire_name(before) != wire_name(after):
        message = f"models call it {wire_name(after)!r}, and called it {wire_name(before)!r} before"
        yield change("tool-renamed", tool, message)
    changes: list[ContractChange] = []
    parts: tuple[Callable[[], Iterator[ContractChange]], ...] = (
        lambda: _arguments(tool, before, after, sides),
        lambda: _result(tool, before, after, sides),
        lambda: artifact_changes(tool, before, after, sides),
        lambda: error_changes(tool, before, after, sides),
        lambda: late_changes(tool, before, after, sides),
        lambda: guard_changes(tool, before, after),
        lambda: approval_changes(tool, before, after, sides),
        lambda: mask_changes(tool, before, after, sides, _renamed(changes)),
        lambda: _approvals(tool, before, after),
        lambda: text_changes(tool, before, after, tuple(changes)),
    )
    is_too_deep = False
    for part in parts:
        try:
            changes += part()
        except RecursionError:
            is_too_deep = True
    yield from changes
    if is_too_deep:
        yield change("undecided", tool, "its schemas are nested too deeply to be compared")


def _is_same(before: Entry, after: Entry) -> bool:
    try:
        return canonical(before) == canonical(after)
    except RecursionError:
        return False


def _arguments(
    tool: str, before: Entry, after: Entry, sides: tuple[Contract, Contract]
) -> Iterator[ContractChange]:
    if "payload" in before and "payload" in after:
        documents = sides[0].document(before["payload"]), sides[1].document(after["payload"])
        injected = {*before.get("inject", ())}, {*after.get("inject", ())}
        yield from argument_changes(tool, *documents, injected=injected)


def _result(
    tool: str, before: Entry, after: Entry, sides: tuple[Contract, Contract]
) -> Iterator[ContractChange]:
    if "result" in before and "result" in after:
        documents = sides[0].document(before["result"]), sides[1].document(after["result"])
        is_bounded_new = ("bounded" in before) != ("bounded" in after)
        changes = result_changes(tool, *documents, is_bounded_new=is_bounded_new)
        if "lenient" in before:  # consumers could not rely on the declared result
            changes = (replace(each, breaks=each.breaks.replace("R", "")) for each in changes)
        elif "lenient" in after:
            message = "the result can be any value: an answer that does not match is passed on as received"
            yield change("result-widened", tool, message, after="/lenient")
        yield from changes
    elif "result" in before:
        yield change("result-field-removed", tool, "it no longer declares what it returns")


def _approvals(tool: str, before: Entry, after: Entry) -> Iterator[ContractChange]:
    if {"confirmation"} <= before.keys() & after.keys() and approved(before) != approved(after):
        yield change("approval-invalidated", tool, "its pending approvals are requested again")


def _renamed(changes: Iterable[ContractChange]) -> dict[str, str]:
    """Return the new names of arguments that were renamed."""
    return {
        each.argument: each.after.rpartition("/properties/")[2]
        for each in changes
        if each.code == "argument-renamed"
    }


def approved(entry: Entry) -> str:
    """Return a text that changes with `ToolSpec.approval_digest`: id, schemas, injected fields, hints."""
    parts = [entry.get("payload"), entry.get("result"), entry.get("confirmation", {}).get("payload")]
    schemas = [(part or {}).get("schema") for part in parts]
    hints, written = {"edit": False, **hints_of(entry)}, entry.get("annotations", {})
    hints |= {name: written[name] for name in hints if name in written}
    return canonical([entry.get("id"), *schemas, entry.get("inject", []), hints])


def _agents(before: Contract, after: Contract, moved: Mapping[str, str]) -> Iterator[ContractChange]:
    elsewhere = _moved(before.agents, after.agents)
    earlier = {now: id_ for id_, now in elsewhere.items()}
    for id_ in after.agents:
        yield from _agent_approvals(id_, earlier.get(id_, id_), before, after, moved)
    for id_, entry in before.agents.items():
        if id_ not in after.agents:
            yield change("agent-removed", id_, "the agent was removed")
            if now := elsewhere.get(id_):
                yield from policy_changes(now, entry, after.agents[now])
            continue
        old, new = _tools_of(entry), _tools_of(after.agents[id_])
        has_other_tools = has_other_exports = False
        for tool, name in old.items():
            now = tool if tool in new else moved.get(tool, tool)
            has_other_tools |= now not in new or new[now] != name
            if now not in new:
                yield change("agent-tool-removed", id_, f"it no longer has the tool {tool!r}", argument=tool)
            elif name != new[now]:
                message = f"it calls {tool!r} {new[now]!r}, and called it {name!r} before"
                yield change("agent-tool-renamed", id_, message, argument=tool)
        for export in _exports_of(entry) - _exports_of(after.agents[id_]):
            message = f"it no longer exports the toolset {export!r}"
            has_other_exports = True
            yield change("agent-export-removed", id_, message, argument=export)
        limits = list(policy_changes(id_, entry, after.agents[id_]))
        yield from limits
        explained = {"digest", *(["tools"] * has_other_tools), *(["exports"] * has_other_exports)}
        explained |= {"policy"} if limits else set()
        yield from remaining_changes(id_, entry, after.agents[id_], explained)


def _agent_approvals(
    id_: str, earlier: str, before: Contract, after: Contract, moved: Mapping[str, str]
) -> Iterator[ContractChange]:
    """Yield the changes of approvals that an agent sets for its tools.

    If the agent did not have a tool before, the old side is the approval of the tool itself, and only
    weakened guards are reported.
    """
    sides, ids = (before, after), {now: earlier for earlier, now in moved.items()}
    old, new = (
        {str(tool["id"]): tool for tool in side.agents.get(agent, {}).get("tools", ())}
        for side, agent in zip(sides, (earlier, id_), strict=True)
    )
    for other, own in new.items():
        tool = other if other in old else ids.get(other, other)
        if "confirmation" not in {*old.get(tool, ()), *own}:
            continue
        was, now = (
            {key: value for key, value in {**entry, **of_agent}.items() if key == "confirmation"}
            for entry, of_agent in (
                (before.tools.get(tool, {}), old.get(tool, {})),
                (after.tools.get(other, {}), own),
            )
        )
        for each in (*guard_changes(id_, was, now), *approval_changes(id_, was, now, sides)):
            if tool in old or each.rule.is_weakening:
                yield replace(each, message=f"of {other}, {each.message}", argument=other)


def _tools_of(agent: Entry) -> dict[str, str]:
    """Return the wire names of an agent's tools by id."""
    return {str(tool["id"]): str(tool.get("name", "")) for tool in agent.get("tools", ())}


def _exports_of(agent: Entry) -> set[str]:
    return {str(export["toolset"]) for export in agent.get("exports", ())}


def _completions(before: Contract, after: Contract) -> Iterator[ContractChange]:
    for id_, entry in before.completions.items():
        if id_ not in after.completions:
            yield change("completion-removed", id_, "the completion was removed")
            continue
        old, new = before.document(entry["result"]), after.document(after.completions[id_]["result"])
        gaps, removed = contains(old, new), removed_fields(new, old)
        masks = list(mask_changes(id_, entry, after.completions[id_], (before, after)))
        yield from masks
        explained = {"digest", *(["result"] if gaps or removed or masks else [])}
        yield from remaining_changes(id_, entry, after.completions[id_], explained)
        for gap in removed:
            yield change("result-field-removed", id_, f"its field {key_of(gap)!r} was removed", gap=gap)
        for gap in gaps:
            message = f"it can have values that it could not have: the old schema {gap.reason}"
            yield change("completion-widened", id_, message, gap=gap)


def ranked(changes: Iterable[ContractChange]) -> list[ContractChange]:
    """Return the changes sorted for display: guards, breaks, undecided, behaviour, texts, the rest."""

    def rank(each: ContractChange) -> int:
        if each.rule.is_weakening:
            return 0
        if each.parties(in_behaviour=False):
            return 1
        return 2 if each.rule.is_undecided else 3 if each.breaks else 4 if each.texts else 5

    return sorted(changes, key=rank)
