"""The JSON Schema and the validator of a designed type, derived from the field tree."""
