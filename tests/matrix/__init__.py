"""Every way in which a call comes in, with every kind of tool and everything that may become of it.

The cells are the product of the doors, the kinds of tools, the outcomes and the stores (`cells.py`). Each is
run (`checking.py`), or stands with its reason in the table of those that cannot be (`impossible.py`).
"""
