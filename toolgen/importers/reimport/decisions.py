"""An author's decisions about a target, which stay valid only while the target is the same.

After a merge, only addresses that somebody has accepted are accepted. Guards stay on the part that they were
written for, and apply to every part that could be meant. Settings that loosen a tool are removed. Each of
these is a conflict until it is resolved.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from toolgen.shapes.constraints import FLAGS, LIMITS

from .conflicts import LastImport, OpenConflict
from .guards import (
    ACCEPTED,
    SENSITIVE,
    MergedDesign,
    Needed,
    for_another_tool,
    guards_in,
    injected_in,
    is_false,
    named,
    owners_in,
    paths_of,
    renamed,
    sensitive_in,
    without_condition,
)
from .matching import Key, is_of_same_source, own_matches, source_matches
from .module_parts import Item
from .reached_types import lost_types, variables_in
from .source_text import SourceText, is_same
from .statement_edits import StatementEdits
from .target_changes import changed_targets, moved_addresses, moved_target, new_credentials
from .targets import (
    OWNERS,
    accepted_in,
    attributes_of,
    clause_of,
    method_of,
    methods_in,
    targets_in,
)

_LIMITS: Final = frozenset(["enum", *(row.name for row in (*LIMITS, *FLAGS))])
"""Keywords of an attribute that restrict its values."""


class Decisions:
    """The decisions in an author's design, and those that a merge can keep."""

    def __init__(
        self,
        base: SourceText,
        design: SourceText,
        update: SourceText,
        recorded: LastImport,
        unread: Collection[str],
    ) -> None:
        """Compare the targets of the last import with those of the new one.

        `unread` are the tools in the source that could not be read.
        """
        self._source = design
        self._variables = variables_in(base.tree), variables_in(update.tree)
        trees = base.tree, design.tree, update.tree
        self._base, self._design, self._update = map(owners_in, trees)
        before, self._design_methods, self._new_methods = map(methods_in, trees)
        self._own = own_matches(self._base, self._design, before, self._design_methods)
        self._unknown = [key for key in self._design if key not in self._own.values() and key[0] != "Type"]
        self._pairs = source_matches(self._base, self._update, before, self._new_methods)
        self._back = {key: old for old, key in self._pairs.items()}
        self._removed = [key for key in self._base if key not in self._pairs and named(key) not in unread]
        self._recorded, self._now = recorded.targets, targets_in(update.tree)
        self._moved = moved_addresses(recorded.targets, self._now)
        self._open_before = {
            place: each
            for place, each in recorded.open.items()
            if not (place.startswith("server:") and self._now.get(place) in recorded.chosen)
        }
        self._chosen = recorded.chosen
        self._accepted, self._imported = accepted_in([design.tree]), accepted_in([update.tree])
        self.open: dict[str, OpenConflict] = {}

    def apply_decisions(self, items: list[Item]) -> list[Item]:
        """Return the statements of a merged design, with the needed guards and without loosened settings."""
        self.open = {}
        edits = [StatementEdits(SourceText(item.text)) for item in items]
        merged = MergedDesign(edits)
        methods = methods_in(ast.Module([*merged.trees], []))
        self._at = own_matches(self._update, merged.owners, self._new_methods, methods)
        self._open_targets()
        self._open_attributes()
        needed = {key: self._needed(key) for key in self._update if key in self._at}
        self._follow_types(needed)
        self._keep_open(needed)
        matched = {*self._at.values()}
        for key, need in needed.items():
            again = [each for each in merged.owners if each not in matched and each[:2] == key]
            for each in (self._at[key], *again):
                merged.guard(each, need)
        for place, conflict in self.open.items():
            key = _tool_key(place)
            if key in needed:
                guards = needed[key].clauses | merged.guards(self._at[key])
                self.open[place] = replace(conflict, guards=tuple(guards.values()))
        self._tighten(merged)
        merged.refuse(self._may_accept)
        return [
            replace(item, text=edit.text(), node=edit.parsed()) if edit.is_changed else item
            for item, edit in zip(items, edits, strict=True)
        ]

    def _may_accept(self, owner: str, address: str) -> bool:
        """Return whether somebody has accepted an address for its service or credential.

        A new address is not accepted until its conflict is resolved, regardless of the design.
        """
        is_known = any(place.partition(".")[0] == owner for place in self._now)
        conflicts = [
            each
            for place, each in self.open.items()
            if place.startswith(("server:", "credential:"))
            and (not is_known or place.partition(".")[0] == owner)
        ]
        excused = {each.was for each in conflicts if is_known and ACCEPTED in each.guards}
        if address in {each.now for each in conflicts} - excused:
            return False
        imported = {each for place, each in self._imported if place == owner or not is_known}
        return (owner, address) in self._accepted or address in imported

    def _open_targets(self) -> None:
        """Open the conflicts about servers, credentials and tools with changed targets."""
        for place, (was, now) in changed_targets(self._recorded, self._now).items():
            key = _tool_key(place)
            if place.startswith("tool:") and not {key, ("Method", key[1])} & self._at.keys():
                continue  # the design does not have the tool
            if not (place.startswith("server:") and now in self._chosen):
                is_accepted = (place.partition(".")[0], was) in self._accepted
                self._open(place, was, now, *([ACCEPTED] if is_accepted else ()))
        for key in self._at:
            old = self._back.get(key)
            if key[0] == "Tool" and old is not None and not self._is_unchanged(old, key):
                was, now = self._target(old, self._recorded), self._target(key, self._now)
                self._open(f"tool:{named(key)}", was, now)
        for key in self._at:
            place = f"security:{named(key)}"
            if key[0] == "Method" and place in self._now:
                old = self._back.get(key)
                was = self._recorded.get(f"security:{named(old)}", "") if old else ""
                if new_credentials(was, self._now[place], self._recorded, self._moved):
                    self._open(place, was, self._now[place])

    def _open_attributes(self) -> None:
        """Open the conflicts about arguments whose place in the same request changed."""
        for key in self._at:
            old = self._back.get(key)
            if old is None or f"tool:{named(key)}" in self.open:
                continue
            before = paths_of(self._base[old])
            for path, place in paths_of(self._update[key]).items():
                was = self._recorded.get(before.get(path, ""), "")
                if was and was != self._now[place]:
                    self._open(place, was, self._now[place])

    def _target(self, key: Key, targets: Mapping[str, str]) -> str:
        return targets.get(f"tool:{named(key)}", named(key))

    def _is_unchanged(self, old: Key, key: Key) -> bool:
        was, now = self._target(old, self._recorded), self._target(key, self._now)
        return now in (was, moved_target(was, self._moved))

    def _open(self, place: str, was: str, now: str, *guards: str) -> None:
        earlier = self.open.get(place)
        self.open[place] = replace(
            earlier or OpenConflict(was=was, now=now),
            guards=tuple(dict.fromkeys([*(earlier.guards if earlier else ()), *guards])),
        )

    def _needed(self, key: Key) -> Needed:
        """Return the guards of all parts that a clause of the new import is or could be."""
        need = Needed()
        old = self._back.get(key)
        author = self._author(old)
        if author is not None and old is not None:
            imported = self._base[old] if self._is_unchanged(old, key) else None
            for clause in guards_in(author):
                if imported is None:
                    need.clauses.setdefault(clause_of(clause), without_condition(clause, self._source))
                elif not any(is_same(clause, each) for each in imported.args):
                    need.clauses.setdefault(clause_of(clause), self._source.text_of(clause))
            self._take_attributes(need, key, old, author)
            self._take_injected(need, key, old, author)
        for other in [key] if key in self._base and old != key else self._removed if old is None else []:
            author = self._author(other)
            if author is not None and other[0] == key[0]:
                target = self._target(other, self._recorded)
                self._take_possible(need, key, target, author, self._guarded(other, author))
        for own in self._unknown if old is None else ():
            author, new = self._design[own], self._update[key]
            if own[0] == key[0] and is_of_same_source(author, self._design_methods, new, self._new_methods):
                target = f"{self._target(key, self._now)}, which is {named(own)} here"
                self._take_possible(need, key, target, author, sensitive_in(author))
        return need

    def _take_possible(
        self,
        need: Needed,
        key: Key,
        target: str,
        author: ast.Call,
        guarded: Mapping[str, Mapping[str, str]],
    ) -> None:
        """Add the guards of a part that a clause of the new import could be."""
        for clause in guards_in(author):
            need.clauses.setdefault(clause_of(clause), for_another_tool(clause, self._source.text_of(clause)))
            self._open(f"tool:{named(key)}", target, self._target(key, self._now))
        arguments = self._arguments(key)
        for name in injected_in(author):
            if name in arguments:
                need.injected[name] = None
                self._open(arguments[name], f"{name} of {target}", self._now[arguments[name]], "Inject")
        places = paths_of(self._update[key])
        for path, keywords in guarded.items():
            if path in places and SENSITIVE in keywords:
                need.keywords.setdefault(path, {})[SENSITIVE] = "True"
                now = self._now[places[path]]
                self._open(places[path], f"{path.partition(':')[2]} of {target}", now, SENSITIVE)

    def _author(self, key: Key | None) -> ast.Call | None:
        """Return the author's version of a clause of the last import."""
        return self._design.get(self._own.get(key, ())) if key is not None else None

    def _arguments(self, key: Key) -> dict[str, str]:
        """Return the places of a tool's arguments by name."""
        prefix = f"argument:{named(key)}."
        places = (each for each in self._now if each.startswith(prefix)) if key[0] == "Tool" else ()
        return {each.removeprefix(prefix): each for each in places if "." not in each.removeprefix(prefix)}

    def _take_attributes(self, need: Needed, key: Key, old: Key, author: ast.Call) -> None:
        """Add the guards of attributes to the attributes that they are now, or could be."""
        now, before = paths_of(self._update[key]), paths_of(self._base[old])
        for path, keywords in self._guarded(old, author).items():
            target = self._recorded.get(before[path], "")
            same = [each for each, place in now.items() if target and self._now[place] == target]
            same = [each for each in same if each.rpartition(".")[0] == path.rpartition(".")[0]]
            if path in now or same:
                for each in dict.fromkeys([*([path] if path in now else ()), *same]):
                    need.keywords.setdefault(each, {}).update(keywords)
                continue
            if SENSITIVE not in keywords:
                continue
            removed_place = renamed(before[path], key)
            self._open(removed_place, target, "")
            side = path.partition(":")[0]
            for each, place in now.items():
                if each not in before and each.partition(":")[0] == side:
                    need.keywords.setdefault(each, {})[SENSITIVE] = "True"
                    self._open(place, target, self._now[place], SENSITIVE)

    def _take_injected(self, need: Needed, key: Key, old: Key, author: ast.Call) -> None:
        """Add the injected arguments, under the names that they have or could have now."""
        for name in injected_in(author):
            arguments = self._arguments(key)
            target = self._recorded.get(f"argument:{named(old)}.{name}", "")
            same = [each for each, place in arguments.items() if self._now[place] == target]
            if name in arguments:
                need.injected[name] = None
            elif target and not same:
                self._open(f"argument:{named(key)}.{name}", target, "")
                same = [each for each in arguments if f"argument:{named(old)}.{each}" not in self._recorded]
            for each in same:
                need.injected[each] = None
                if each != name:
                    self._open(arguments[each], target, self._now[arguments[each]], "Inject")

    def _follow_types(self, needed: Mapping[Key, Needed]) -> None:
        """Add the guards in types if a request or a result has other types now."""
        types = {key: self._author(key) for key in self._base if key[0] == "Type"}
        guarded = {key: self._guarded(key, each) for key, each in types.items() if each is not None}
        guarded = {key: each for key, each in guarded.items() if each}
        for key in self._at if guarded else ():
            old = self._back.get(key)
            clauses = self._base[old] if old else None, self._update[key]
            for root, lost, new in lost_types(*clauses, self._variables, self._pairs, guarded):
                for path, keywords in guarded[lost].items():
                    self._take_from_type(needed, key, root, new, lost, path, keywords)

    def _take_from_type(
        self,
        needed: Mapping[Key, Needed],
        owner: Key,
        root: str,
        new: list[Key],
        lost: Key,
        path: str,
        keywords: Mapping[str, str],
    ) -> None:
        """Add the guards of an attribute to the attributes that replace it after its type was replaced."""
        name = path.partition(":")[2]
        inside = f"{root}.{name}" if not root.endswith(":") else f"{root}{name}"
        holders = [(each, path) for each in new if path in paths_of(self._update[each])]
        holders += [(owner, inside)] if inside in paths_of(self._update[owner]) else []
        was = f"{name} of {named(lost)}"
        for key, at in holders:
            author = self._author(self._back.get(key))
            guarded = self._guarded(self._back[key], author).get(at, {}) if author is not None else {}
            if keywords.keys() <= guarded.keys() or key not in needed:
                continue
            taken = {SENSITIVE: "True"} if SENSITIVE in keywords else {}
            needed[key].keywords.setdefault(at, {}).update(taken)
            place = paths_of(self._update[key])[at]
            self._open(place, was, self._now[place], *taken)
        if not holders:
            side, _, rest = inside.partition(":")
            self._open(f"{side}:{named(owner)}.{rest}", was, "")

    def _guarded(self, old: Key, author: ast.Call) -> dict[str, dict[str, str]]:
        """Return the keywords that the author added to make attributes more careful, by their paths."""
        before = attributes_of(self._base[old])
        paths = {place: path for path, place in paths_of(self._base[old]).items()}
        guarded: dict[str, dict[str, str]] = {}
        for place, attribute in attributes_of(author).items():
            place = renamed(place, old)
            if place not in before:
                continue
            imported = {each.arg for each in before[place].keywords}
            for each in attribute.keywords:
                is_limit = each.arg in _LIMITS and each.arg not in imported
                if each.arg and (is_limit or (each.arg == SENSITIVE and not is_false(each.value))):
                    guarded.setdefault(paths[place], {})[each.arg] = self._source.text_of(each.value)
        return guarded

    def _keep_open(self, needed: Mapping[Key, Needed]) -> None:
        """Keep earlier conflicts open, with their guards.

        They apply to the name, and to the part that had it if the source has renamed that part.
        """
        for place, conflict in self._open_before.items():
            moved = self._moved_places(place)
            now = self._now.get(place, conflict.now if conflict.path else "")
            if now or not moved:
                is_address = place.startswith(("server:", "credential:"))
                current = None if is_address else self.open.get(place)
                guards = dict.fromkeys([*conflict.guards, *(current.guards if current else ())])
                self.open[place] = replace(conflict, now=now, guards=tuple(guards))
            for each in moved:
                self._open(each, conflict.was, self._now[each], *conflict.guards)
            for each in (place, *moved):
                self._keep_guards(each, conflict.guards, needed)

    def _moved_places(self, place: str) -> list[str]:
        """Return the new places of a part that had this place in the last import and was renamed."""
        kind, _, rest = place.partition(":")
        name, dot, path = rest.partition(".")
        keys = (self._pairs.get((clause, repr(name))) for clause in OWNERS)
        names = dict.fromkeys(named(key) for key in keys if key is not None)
        places = (f"{kind}:{each}{dot}{path}" for each in names if each != name)
        return [each for each in places if each in self._now]

    def _keep_guards(self, place: str, guards: Collection[str], needed: Mapping[Key, Needed]) -> None:
        kind, _, rest = place.partition(":")
        name, _, path = rest.partition(".")
        if kind == "tool" and ("Tool", repr(name)) in needed:
            for text in guards:
                clause = clause_of(ast.parse(text, mode="eval").body)
                needed["Tool", repr(name)].clauses.setdefault(clause, text)
        for clause in OWNERS if path else ():
            key = clause, repr(name)
            if key not in needed:
                continue
            if "Inject" in guards and path in self._arguments(key):
                needed[key].injected[path] = None
            if SENSITIVE in guards and f"{kind}:{path}" in paths_of(self._update[key]):
                needed[key].keywords.setdefault(f"{kind}:{path}", {})[SENSITIVE] = "True"

    def _tighten(self, merged: MergedDesign) -> None:
        """Remove settings that loosen a tool whose target has changed."""
        strict = {_tool_key(place) for place in self.open}
        for key in strict & self._at.keys():
            merged.tighten(self._at[key], self._update[key])
        methods = {named(self._at[key]): key[1] for key in self._at if key[0] == "Method"}
        matched = {*self._at.values()}
        for key, tool in merged.owners.items():
            bound = methods.get(method_of(tool), "") if key[0] == "Tool" and key not in matched else ""
            if ("Tool", bound) in strict:
                merged.tighten(key, self._update.get(("Tool", bound), ast.Call(ast.Name("Tool"), [], [])))


def _tool_key(place: str) -> Key:
    kind, _, name = place.partition(":")
    return "Tool" if kind == "tool" else "", repr(name)
