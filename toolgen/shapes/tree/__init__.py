"""The JSON Schema and the validator of a designed type, made of the field tree."""
