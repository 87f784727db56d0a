"""Values that every other package shares: names, errors, limits, JSON values, findings, printable text."""
