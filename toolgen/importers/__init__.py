"""Importers, which write a design from OpenAPI, MCP, JSON Schema, Python or another catalog.

A reader converts parsed data to a `tool.Source`, from which `design` creates a module. Designs, generated
code and the runtime import nothing from here.
"""
