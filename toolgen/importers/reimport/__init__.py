"""A new version of a source, merged into a design that its author has edited."""
