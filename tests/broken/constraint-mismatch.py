"""A bound on a string."""

from toolgen.dsl import Attribute, Design, String, Type

Device = Type("Device", "A device.", Attribute("name", String, "Name.", minimum=3))

design = Design("home", "A home.", Device)
