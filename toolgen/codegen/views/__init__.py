"""One view for each template: a frozen dataclass of finished strings, and the function that makes it."""
