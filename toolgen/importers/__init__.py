"""Reads tools that somebody else described, and writes a design of them.

A reader makes a `tool.Source` of parsed data; `design` makes a module of it. Nothing here is imported by
a design, by generated code or at run time.
"""
