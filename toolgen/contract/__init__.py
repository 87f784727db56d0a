"""What every floor shares: names, records, errors, limits, JSON, text that can be shown."""
