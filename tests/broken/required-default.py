"""A default that nothing could ever use."""

from toolgen.dsl import Attribute, Design, Int, Type

Device = Type("Device", "A device.", Attribute("level", Int, "Percent.", required=True, default=50))

design = Design("home", "A home.", Device)
