"""Third-party JSON Schemas: validators, issues, and the rules that types cannot express."""
