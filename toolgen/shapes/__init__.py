"""The shape of data: the field tree, lexical formats, patterns, names, and the issues of a document."""
