"""One call of a tool: its spec, codecs, toolsets, steps and result."""
