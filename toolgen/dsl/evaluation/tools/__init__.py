"""Tools: their arguments, results and behaviour."""
