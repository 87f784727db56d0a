"""The JSON Schema and the validator of a designed type, made from the field tree."""
