"""A tool that reads and destroys."""

from toolgen.dsl import Annotations, Design, Service, Tool, Toolset

reset = Tool("reset", "Reset a device.", Annotations(read_only=True, destructive=True))

design = Design("home", "A home.", Service("assistant", "Helps.", Toolset("devices", "Devices.", reset)))
