"""One view for each template: a frozen dataclass of finished strings, and what makes it of the design."""
