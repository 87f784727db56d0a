"""Typed Python functions: the schema, the validators and the issues of their annotations."""
