"""Types of a design at run time: the base class of generated types, and the issues of their values."""
