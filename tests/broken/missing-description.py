"""A description that says nothing."""

from toolgen.dsl import Attribute, Design, String, Type

Device = Type("Device", "A device.", Attribute("id", String, ""))

design = Design("home", "A home.", Device)
