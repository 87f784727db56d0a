"""Checks before anything is resolved: the arguments of clauses, where a clause may stand, names."""
