"""Random classes that hold one another: tried by every branch, and by one a level, the same is accepted."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import SchemaValidator, ValidationError

from tests.selection import volume
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.shapes.design.model import Nullable, ToolModel
from toolgen.shapes.foreign.model import SchemaModel, exact_adapter
from toolgen.shapes.python.validator import CONFIG, Exactness
from toolgen.shapes.union_guard import discriminate_unions, within_budget

SETS, DOCUMENTS = volume(4, lab=40), 60
LEAVES: dict[str, Any] = {
    "int": 5,
    "str": "text",
    "bool": True,
    "float": 2.5,
    "Literal['x']": "x",
    "Literal['x', 'y']": "y",
    "Literal[1]": 1,
    "Literal[1, 2]": 2,
    "list[int]": [1],
    "Annotated[int, Field(ge=2)]": 3,
}
"""Types of members, with a value of each."""
ODD: tuple[Any, ...] = (1, 2.0, 2.5, "x", "", True, None, [], ["x"], {}, {"a": 1})
NAMES = {"Annotated": Annotated, "Field": Field, "Literal": Literal, "Nullable": Nullable}


class Closed(BaseModel):
    """A class of a function's author."""


class Open(BaseModel):
    """One that takes further keys."""

    model_config = ConfigDict(extra="allow")


class Strict(SchemaModel):
    """An object of somebody else's schema that takes no further key."""

    model_config = ConfigDict(extra="forbid")


class Classes:
    """Classes whose members are of one another, and documents that may be of them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.is_foreign = bool(self.chance.getrandbits(1))
        bases: list[type[BaseModel]] = [SchemaModel, Strict] if self.is_foreign else [Closed, Open, ToolModel]
        self.names = [f"C{number}" for number in range(self.chance.randint(2, 4))]
        self.members = {name: dict(self._members()) for name in self.names}
        made: dict[str, Any] = {
            name: create_model(name, __base__=self.chance.choice(bases), __module__=__name__, **members)
            for name, members in self.members.items()
        }
        for class_ in made.values():
            class_.model_rebuild(_types_namespace={**NAMES, **made})
        self.root: Any = made[self.names[0]]
        for name in self.names[1:]:
            self.root = self.root | made[name]

    def _members(self) -> Iterator[tuple[str, Any]]:
        for name in self.chance.sample("abcd", self.chance.randint(1, 4)):
            type_, default = self._type(), self.chance.choice([..., ..., None])
            if default is None:
                type_ = f"{type_} | None"
            alias = name.upper() if self.chance.random() < 0.15 else None
            yield name, (type_, Field(default, alias=alias))

    def _type(self) -> str:
        union = " | ".join(self.chance.sample(self.names, min(len(self.names), self.chance.randint(2, 3))))
        leaf = self.chance.choice([*LEAVES])
        forms = (leaf, leaf, union, f"{union} | {leaf}", f"list[{union}]", f"dict[str, {union}]")
        return self.chance.choice((*forms, f"list[{union}] | {union}", self.chance.choice(self.names)))

    def document(self, depth: int) -> Any:
        """Return a document that is nearly of one of the classes."""
        if self.chance.random() < 0.02:
            return self.chance.choice(ODD)
        made = {}
        for name, (type_, field) in self.members[self.chance.choice(self.names)].items():
            if field.is_required() or self.chance.random() < 0.5:
                made[field.alias or name] = self._value(type_, depth)
        if self.chance.random() < 0.05:
            made["d"] = self.chance.choice(ODD)
        return made

    def _value(self, type_: str, depth: int) -> Any:
        leaf = next((value for name, value in LEAVES.items() if type_.removesuffix(" | None") == name), None)
        if self.chance.random() < 0.02 or depth < 0:
            return self.chance.choice(ODD)
        if leaf is not None:
            return leaf
        inner = self.document(depth - 1)
        if type_.startswith("list") and self.chance.random() < 0.7:
            return [inner, self.document(depth - 1)]
        return {"k": inner} if type_.startswith("dict") else inner


def attempt(validate: Callable[..., Any], text: str) -> tuple[bool, str]:
    """Return whether a document is accepted, and what of it was made."""
    try:
        return True, repr(validate(text, by_alias=True, by_name=False))
    except ValidationError:
        return False, ""


@pytest.mark.volume
@pytest.mark.parametrize("seed", range(SETS))
def test_one_branch_a_level_accepts_and_makes_the_same(seed: int) -> None:
    classes = Classes(seed)
    adapter = exact_adapter(classes.root)
    core = adapter.core_schema
    if not classes.is_foreign:
        assert TypeCodec(classes.root, "Root").schema
        core = Exactness(has_labels=True).of(core)
    schema = discriminate_unions(core)
    if schema is None:
        return
    every = SchemaValidator(core, CONFIG, _use_prebuilt=False).validate_json
    one = within_budget(SchemaValidator(schema, CONFIG, _use_prebuilt=False).validate_json)
    for _ in range(DOCUMENTS):
        text = json.dumps(classes.document(2))
        assert attempt(one, text) == attempt(every, text), text
