"""The shape of data: the field tree, lexical forms, patterns, names, and what is wrong with a document."""
