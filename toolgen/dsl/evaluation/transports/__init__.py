"""How methods are reached: servers, credentials, requests, answers and functions."""
