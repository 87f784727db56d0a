"""A comma is missing between a name and a description."""

from toolgen.dsl import Design, Service, Tool, Toolset

documents = Toolset("documents", "Manuals.", Tool("search the manuals", "Search."))

design = Design("home", "A home.", Service("assistant", "Helps.", documents))
