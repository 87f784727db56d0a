"""Types as words, turned into the field tree."""
