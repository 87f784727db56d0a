"""A branch whose attribute has the name of the tag."""

from toolgen.dsl import Attribute, Design, OneOf, String, Type

Dim = Type("Dim", "Dim a light.", Attribute("kind", String, "Kind of light."))
Command = Type(
    "Command", "What to do.", Attribute("step", OneOf("kind", dim=Dim), "One step.", required=True)
)

design = Design("home", "A home.", Command)
