"""A misspelt reference."""

from toolgen.dsl import ArrayOf, Attribute, Design, Type

Node = Type("Node", "Part of a tree.", Attribute("children", ArrayOf("Nodes"), "Parts of the part."))

design = Design("home", "A home.", Node)
