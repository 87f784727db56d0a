"""The engine of runs in memory and in a file: it executes runs, and keeps the journal of each."""
