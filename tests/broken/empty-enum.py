"""An enumeration of nothing."""

from toolgen.dsl import Design, Enum

State = Enum("State", "Whether a device answers.")

design = Design("home", "A home.", State)
