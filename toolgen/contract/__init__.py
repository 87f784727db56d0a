"""What every other package shares: names, errors, limits, JSON values, printable text."""
