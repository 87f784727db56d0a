"""Tools of typed Python functions, and codecs of Python types and third-party schemas."""
