"""Tools as model providers take them: schemas in their dialects, and codecs of what their models send."""

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
