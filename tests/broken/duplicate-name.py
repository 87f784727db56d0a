"""Two tools of one name."""

from toolgen.dsl import Design, Service, Tool, Toolset

documents = Toolset("documents", "Manuals.", Tool("search", "Search."), Tool("search", "Search again."))

design = Design("home", "A home.", Service("assistant", "Helps.", documents))
