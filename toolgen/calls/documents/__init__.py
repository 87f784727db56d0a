"""A result as JSON, the one form in journals, events and the records of agents and HTTP clients."""
