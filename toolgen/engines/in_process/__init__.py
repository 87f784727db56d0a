"""The engine for runs in memory or in a file: it executes runs, and stores the journal of each."""
