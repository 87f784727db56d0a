"""A Python type where a type of the language belongs."""

from toolgen.dsl import Attribute, Design, Type

design = Design("home", "A home.", Type("Device", "A device.", Attribute("id", str, "Identifier.")))
