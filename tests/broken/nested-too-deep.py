"""Arrays of arrays without end."""

from toolgen.dsl import ArrayOf, Attribute, Design, String, Type

deep = ArrayOf(String)
for _ in range(100):
    deep = ArrayOf(deep)  # type: ignore[assignment, arg-type]  # no two levels are of one type

design = Design("home", "A home.", Type("Device", "A device.", Attribute("deep", deep, "Down it goes.")))
