"""A value that stands twice."""

from toolgen.dsl import Design, Enum

State = Enum("State", "Whether a device answers.", "online", "offline", "online")

design = Design("home", "A home.", State)
