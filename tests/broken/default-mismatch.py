"""A default with a wrong item."""

from toolgen.dsl import ArrayOf, Attribute, Design, String, Type

Device = Type("Device", "A device.", Attribute("tags", ArrayOf(String), "Labels.", default=["a", 2]))

design = Design("home", "A home.", Device)
