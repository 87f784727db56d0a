"""Measurements, as ratios taken in one process. Never part of the tests."""
