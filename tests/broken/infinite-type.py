"""A type that requires itself."""

from toolgen.dsl import Attribute, Design, Type

Node = Type("Node", "Part of a tree.", Attribute("child", "Node", "The next part.", required=True))

design = Design("home", "A home.", Node)
