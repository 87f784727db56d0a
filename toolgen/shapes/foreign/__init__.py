"""JSON Schemas that somebody else wrote: validators, issues, and the rules that types cannot hold."""
