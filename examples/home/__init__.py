"""A home assistant over SQLite: design, services, executors, demo."""
