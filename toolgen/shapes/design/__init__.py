"""Types of a design: JSON Schema, validator, issues, and the base class of generated types."""
