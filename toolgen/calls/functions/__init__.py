"""Tools of typed Python functions, and codecs of what no design has: Python types and foreign schemas."""
