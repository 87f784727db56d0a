"""What a change of a contract breaks: containment of schemas, and changes between two catalogues."""

from .containment import Containment, contains
from .documents import Document
from .proof import Gap

__all__ = ["Containment", "Document", "Gap", "contains"]
