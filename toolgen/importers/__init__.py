"""Tools that somebody else described, read from files and functions, and written as designs.

A reader makes a `tool.Source` of parsed data; `design` makes a module of it. Nothing here is imported by
a design, by generated code or at run time.
"""
