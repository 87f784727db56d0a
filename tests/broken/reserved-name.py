"""A service in the place of a generated module."""

from toolgen.dsl import Design, Service

design = Design("home", "A home.", Service("Types", "Types of devices."))
