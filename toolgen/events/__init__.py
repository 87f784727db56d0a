"""Events of calls and runs: their records, the hub that numbers them, and where they are written."""
