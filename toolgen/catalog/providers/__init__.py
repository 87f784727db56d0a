"""Tools as model providers take them: schemas in their dialects, and codecs of what their models send."""

from .declarations import Declarations, declarations
from .dialects import DIALECTS, Dialect
from .losses import Loss
from .projection import Projection, project

__all__ = ["DIALECTS", "Declarations", "Dialect", "Loss", "Projection", "declarations", "project"]
