"""OpenTelemetry: spans and metrics of calls, waits and runs."""
