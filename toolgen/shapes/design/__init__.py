"""Types of a design: JSON Schema, validator, and the base class of generated types."""
