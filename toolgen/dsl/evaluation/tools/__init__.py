"""Tools: arguments, results, behaviour."""
