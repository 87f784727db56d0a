"""A string among whole numbers."""

from toolgen.dsl import Attribute, Design, Int, Type

Device = Type("Device", "A device.", Attribute("channel", Int, "Channel.", enum=(1, 2, "3")))

design = Design("home", "A home.", Device)
