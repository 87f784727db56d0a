"""A map with numbers as keys."""

from toolgen.dsl import Attribute, Design, Int, MapOf, String, Type

Device = Type("Device", "A device.", Attribute("channels", MapOf(Int, String), "Names of its channels."))

design = Design("home", "A home.", Device)
