"""The types of data: field tree, formats, patterns, identifiers, validators and validation issues."""
