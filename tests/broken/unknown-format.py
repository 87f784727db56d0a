"""A format that is a type of its own."""

from toolgen.dsl import Attribute, Design, String, Type

Device = Type("Device", "A device.", Attribute("seen", String, "Last reading.", format="date-time"))

design = Design("home", "A home.", Device)
