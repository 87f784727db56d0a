"""Tools for model providers: schemas in their dialects, and codecs of the arguments from their models."""

from .declarations import Declarations, EntryError, declarations
from .dialects import DIALECTS, Dialect
from .losses import Loss
from .projection import Projection, project

__all__ = [
    "DIALECTS",
    "Declarations",
    "Dialect",
    "EntryError",
    "Loss",
    "Projection",
    "declarations",
    "project",
]
