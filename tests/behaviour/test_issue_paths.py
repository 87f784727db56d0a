"""Issues of generated codecs name the place by its JSON keys, whatever the attributes are called."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases.enums.gen.states.toolsets import states
from tests.cases.maps.gen.atlas.toolsets import maps
from tests.cases.unions.gen.art.toolsets import shapes
from toolgen.runtime import ToolValidationError
from toolgen.runtime.functions import Codec

DRAW = shapes.DRAW.payload
LOOK = maps.LOOK.payload
MAIN = {"main": {"shape": "circle", "radius": 1.0}}
GIVEN: dict[str, Any] = {"counts": {}, "inline": {}}


@pytest.mark.parametrize(
    ("codec", "document", "path"),
    [
        (DRAW, {**MAIN, "frame": {"@type": "dots"}}, '$.frame["@type"]'),
        (DRAW, {**MAIN, "frame": {}}, '$.frame["@type"]'),
        (DRAW, {**MAIN, "only": {"shape": "square", "radius": 1.0}}, "$.only.shape"),
        (DRAW, {**MAIN, "third": {"shape": "circle", "radius": "1"}}, "$.third.radius"),
        (LOOK, {**GIVEN, "nested": {"a": {"[key]": "x"}}}, '$.nested.a["[key]"]'),
        (DRAW, {**MAIN, "[key]": 1}, '$["[key]"]'),
        (LOOK, {**GIVEN, "inline": {"[key]": "inline"}}, '$.inline["[key]"]'),
        (DRAW, {**MAIN, "only": {"shape": "circle", "radius": 1.0, "[key]": "only"}}, '$.only["[key]"]'),
        (LOOK, {**GIVEN, "narrow": {"abcd": 1}}, "$.narrow.abcd"),
        (LOOK, {**GIVEN, "narrow": {"A": 1}}, "$.narrow.A"),
    ],
)
def test_one_mistake_has_one_exact_path(codec: Codec[Any], document: dict[str, Any], path: str) -> None:
    with pytest.raises(ToolValidationError) as caught:
        codec.decode(document)
    assert [issue.path for issue in caught.value.issues] == [path]


def test_null_gives_the_default_of_an_enum_of_one_value() -> None:
    value = states.CHOOSE.payload.decode_null_as_absent({"only": None, "single": None})
    assert (value.only, value.single) == ("this", 1)
