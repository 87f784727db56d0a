"""A pattern with look-ahead."""

from toolgen.dsl import Attribute, Design, String, Type

Device = Type("Device", "A device.", Attribute("code", String, "Code.", pattern="^(?=x)[a-z]+$"))

design = Design("home", "A home.", Device)
