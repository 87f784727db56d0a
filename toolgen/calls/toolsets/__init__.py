"""The tools of a runtime: registered, and listed for each request."""
