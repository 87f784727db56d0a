"""A minimum above the maximum."""

from toolgen.dsl import Attribute, Design, Int, Type

Device = Type("Device", "A device.", Attribute("level", Int, "Percent.", minimum=100, maximum=1))

design = Design("home", "A home.", Device)
