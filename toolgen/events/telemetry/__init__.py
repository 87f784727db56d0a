"""OpenTelemetry: spans and metrics of calls, suspended calls and runs."""
