"""One view for each template: a record of finished strings, and the function that creates it."""
