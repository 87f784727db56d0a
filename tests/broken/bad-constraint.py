"""A length below zero."""

from toolgen.dsl import Attribute, Design, String, Type

Device = Type("Device", "A device.", Attribute("name", String, "Name.", max_length=-1))

design = Design("home", "A home.", Device)
