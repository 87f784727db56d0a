"""Schemas that somebody else wrote: checked, upgraded to 2020-12, and brought into a form types can hold."""

from .problems import Problem, Reading
from .reading import read

__all__ = ["Problem", "Reading", "read"]
