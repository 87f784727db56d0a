"""Checks before anything is resolved: the arguments of clauses, the placement of clauses, names."""
