"""The tools of a runtime: registered, listed for each request, seen under other names."""
