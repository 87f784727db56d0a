"""Importers, which write a design from OpenAPI, MCP, JSON Schema, Python or another catalog.

A reader makes a `tool.Source` of parsed data; `design` makes a module of it. Nothing here is imported by
a design, by generated code or at run time.
"""
