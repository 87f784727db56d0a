"""The transports of methods: servers, credentials, requests, responses and functions."""
