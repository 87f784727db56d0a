"""A default that is no value of its enumeration."""

from toolgen.dsl import Attribute, Design, Enum, Type

State = Enum("State", "Whether a device answers.", "online", "offline")
Device = Type("Device", "A device.", Attribute("state", State, "Its state.", default="unknown"))

design = Design("home", "A home.", Device)
