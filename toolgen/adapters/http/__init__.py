"""A runtime over HTTP: catalog, calls, waits, runs, sessions, artifacts and events: `toolgen[serve]`."""

from .callers import Caller, CallerOf
from .options import SurfaceOptions
from .surface import HTTPSurface

__all__ = ["Caller", "CallerOf", "HTTPSurface", "SurfaceOptions"]
