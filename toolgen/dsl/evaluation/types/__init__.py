"""Types of a design and their constraints, resolved into the field tree."""
