"""Random sources that change at random beside random decisions: none is kept for another target."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.importers.changing_sources import DESIGN, Shop, api, oauth, operation, tool_list
from tests.importers.changing_sources import shop as shop
from tests.selection import first, volume

SEEDS = volume(2, lab=300)
SERVERS = [f"https://{name}.example/v1" for name in "abc"] + [
    "http://127.0.0.1:8000",
    "http://169.254.169.254",
]
TOKENS = ["https://login.example/token", "https://login.example/Token", "http://10.0.0.1/token"]
PLACES = [("header", "X-K"), ("query", "X-K"), ("header", "X-L"), ("cookie", "k")]
IDS = ["pay", "Pay", "PAY", "list", "List", "lend"]
PATHS = ["/pay", "/Pay", "/list", "/loans", "/v2/pay"]
ARGUMENTS = ["card", "Card", "note", "card_number"]


@dataclass
class Source:
    """What a document says; operations by verb and path, or tools by name under an empty verb."""

    chance: random.Random
    is_api: bool
    servers: list[str] = field(default_factory=list[str])
    token: str = TOKENS[0]
    key: tuple[str, str] = PLACES[0]
    operations: dict[tuple[str, str], tuple[str, list[str], str]] = field(default_factory=dict)
    """Id, names of arguments and tag."""

    def fill(self) -> None:
        self.servers = self.chance.sample(SERVERS, self.chance.choice([1, 1, 2]))
        for _ in range(self.chance.randint(2, 4)):
            self.add()

    def add(self) -> None:
        chance = self.chance
        free = [each for each in IDS if each not in {id for id, _, _ in self.operations.values()}]
        if free:
            name = chance.choice(free)
            verb = chance.choice(["get", "post", "put"])
            target = (verb, chance.choice(PATHS)) if self.is_api else ("", name)
            arguments = chance.sample(ARGUMENTS, chance.randint(1, 3))
            self.operations.setdefault(target, (name, arguments, chance.choice("st")))

    def change(self) -> None:
        chance = self.chance
        kinds = ["add", "remove", "reorder", "argument"]
        kinds += ["server", "token", "key", "rename", "move", "tag"] if self.is_api else []
        match chance.choice(kinds):
            case "add":
                self.add()
            case "remove":
                self.operations.pop(chance.choice(list(self.operations)))
            case "reorder":
                self.operations = dict(chance.sample(list(self.operations.items()), len(self.operations)))
            case "server":
                self.servers = chance.sample(SERVERS, chance.choice([1, 1, 2]))
            case "token":
                self.token = chance.choice(TOKENS)
            case "key":
                self.key = chance.choice(PLACES)
            case kind:
                target = chance.choice(list(self.operations))
                name, arguments, tag = self.operations[target]
                if kind == "move":
                    del self.operations[target]
                    target = (chance.choice(["get", "post", "put"]), chance.choice(PATHS))
                elif kind == "argument":
                    arguments = chance.sample(ARGUMENTS, chance.randint(1, 3))
                elif kind == "tag":
                    tag = chance.choice("st")
                elif free := [
                    each for each in IDS if each not in {id for id, _, _ in self.operations.values()}
                ]:
                    name = chance.choice(free)
                self.operations[target] = (name, arguments, tag)
        if not self.operations:
            self.add()

    def document(self) -> dict[str, Any]:
        if not self.is_api:
            return tool_list(*((name, arguments) for name, arguments, _ in self.operations.values()))
        place, name = self.key
        key = {"k": {"type": "apiKey", "in": place, "name": name}}
        written = [
            (verb, path, operation(id, *(("query", each) for each in arguments), tags=[tag]))
            for (verb, path), (id, arguments, tag) in self.operations.items()
        ]
        return api(*written, server=self.servers, schemes={**key, **oauth(self.token)})

    def ids(self) -> dict[str, tuple[str, str]]:
        return {id: target for target, (id, _, _) in self.operations.items()}


@dataclass
class Design:
    """What a design says of addresses and guards."""

    accepted: set[str] = field(default_factory=set)
    confirmed: dict[tuple[str, str], list[bool]] = field(default_factory=dict)
    """Whether each of its tools asks, by what it calls."""
    sensitive: dict[tuple[str, str], dict[str, bool]] = field(default_factory=dict)
    """Whether arguments are sensitive."""

    @classmethod
    def read(cls) -> Design:
        design = cls()
        methods: dict[str, tuple[str, str]] = {}
        tree = ast.parse(Path(DESIGN).read_text("utf-8"))
        for node in _calls(tree, "Server", "ClientCredentialsFlow"):
            keywords = {each.arg: ast.literal_eval(each.value) for each in node.keywords}
            if keywords.get("accepted", True):
                design.accepted.add(str(node.args[0].value if node.args else keywords["token"]))  # type: ignore[attr-defined]
        for node in _calls(tree, "Method"):
            request = next(
                each for http in _calls(node, "HTTP") for each in http.args if isinstance(each, ast.Call)
            )
            target = request.func.attr.lower(), request.args[0].value  # type: ignore[attr-defined]
            methods[node.args[0].value] = target  # type: ignore[attr-defined]
            design.sensitive.setdefault(target, {}).update(_sensitive(node))
        for node in _calls(tree, "Tool"):
            name = node.args[0].value  # type: ignore[attr-defined]
            bound = [each.args[-1].value for each in _calls(node, "BindTo")]  # type: ignore[attr-defined]
            named = [each.value.value for meta in _calls(node, "Meta") for each in meta.keywords]  # type: ignore[attr-defined]
            target = methods[bound[0]] if bound else ("", [*named, name][0])
            design.confirmed.setdefault(target, []).append(any(_calls(node, "Confirm")))
            if not bound:
                design.sensitive.setdefault(target, {}).update(_sensitive(node))
        return design


def _calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in names:
            yield node


def _sensitive(node: ast.AST) -> dict[str, bool]:
    return {
        each.args[0].value: any(word.arg == "sensitive" for word in each.keywords)  # type: ignore[attr-defined]
        for side in _calls(node, "Payload", "Args")
        for each in _calls(side, "Attribute")
    }


def _decide(
    chance: random.Random,
) -> tuple[set[str], list[tuple[str, str]], list[tuple[tuple[str, str], str]]]:
    """Edit the design, and return accepted addresses, confirmed targets and sensitive arguments."""
    path = Path(DESIGN)
    text = path.read_text("utf-8")
    before = Design.read()
    edits: list[tuple[int, str]] = []
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for node in _calls(ast.parse(text), "Tool", "Attribute"):
        end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0) - 1
        comma = "" if text[:end].rstrip().endswith(",") else ", "
        if chance.random() < 0.4:
            is_tool = node.func.attr == "Tool"  # type: ignore[attr-defined]
            edits.append((end, comma + ('d.Confirm("Sure?")' if is_tool else "sensitive=True")))
    for end, new in sorted(edits, reverse=True):
        text = text[:end] + new + text[end:]
    if chance.random() < 0.6:
        text = text.replace("accepted=False", "accepted=True")
    if "# mine" not in text:
        text = text.replace("import dsl as d", "import dsl as d  # mine", 1)
    path.write_text(f"{text}\n# and mine\n", "utf-8")
    after = Design.read()
    confirmed = [each for each, asks in after.confirmed.items() if asks and all(asks)]
    sensitive = [
        (target, name) for target, names in after.sensitive.items() for name, is_so in names.items() if is_so
    ]
    assert before.accepted <= after.accepted
    return after.accepted, confirmed, sensitive


@pytest.mark.volume
@pytest.mark.parametrize("seed", first(range(SEEDS)))
def test_no_decision_is_kept_for_another_target(shop: Shop, seed: int) -> None:
    chance = random.Random(seed)
    source = Source(chance, is_api=chance.random() < 0.7)
    source.fill()
    shop.imported(source.document())
    accepted, confirmed, sensitive = _decide(chance)
    assert shop.run().code == 0
    for _ in range(4):
        before = source.ids(), list(source.servers), source.token, source.key
        targets = {target: arguments for target, (_, arguments, _) in source.operations.items()}
        for _ in range(chance.choice([1, 1, 2, 3])):
            source.change()
        shop.publish(source.document())
        checked, done = shop.run("--check"), shop.run()
        lock = shop.lock
        after = Design.read()
        assert after.accepted <= accepted
        for target in confirmed:
            assert all(after.confirmed.get(target, ())), (target, done.err)
        for target, name in sensitive:
            held = after.sensitive.get(target, {})
            assert held.get(name, True), (target, name, done.err)
            if target in targets and target in source.operations:
                now = source.operations[target][1]
                for new in (
                    set(now) - set(targets[target]) if name in targets[target] and name not in now else ()
                ):
                    own = new if new in held else f"{new}_query"  # `card` has its name in Python
                    is_guarded = held.get(own, bool(lock["open"]))  # a schema has no attributes
                    assert is_guarded, (target, name, new, done.err)
        moved = [id for id, target in source.ids().items() if before[0].get(id, target) != target]
        lost = [each for each in confirmed if each in targets and each not in source.operations]
        is_other = before[1:] != (source.servers, source.token, source.key) if source.is_api else False
        if is_other or moved or lost:
            assert (checked.code, done.code) == (1, 1), (moved, lost, done.err)
        assert (done.code == 1) >= bool(lock["open"])
        text = shop.design
        assert ("# mine" in text, text.rstrip().endswith("# and mine")) == (True, True)
        if places := list(lock["open"]):
            shop.stays_open(*places)
            resolved = chance.sample(places, chance.randint(0, len(places)))
            if rest := [each for each in places if each not in resolved]:
                if resolved:
                    assert shop.run(*(part for each in resolved for part in ("--resolve", each))).code == 1
                shop.stays_open(*rest)
            shop.resolve(*rest) if rest else shop.resolve(*places)
        assert (shop.run().code, Design.read().accepted <= accepted) == (0, True)
        for target in [each for each in confirmed if each not in source.operations]:
            confirmed.remove(target)
        sensitive = [each for each in sensitive if each[1] in source.operations.get(each[0], ("", [], ""))[1]]
        accepted = Design.read().accepted
