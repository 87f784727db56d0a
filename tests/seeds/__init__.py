"""Examples of the documents that toolgen began with, written with toolgen; one file for each document."""
