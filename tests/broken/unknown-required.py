"""A misspelt name."""

from toolgen.dsl import Attribute, Design, Required, String, Type

Device = Type("Device", "A device.", Attribute("serial", String, "Serial number."), Required("serail"))

design = Design("home", "A home.", Device)
