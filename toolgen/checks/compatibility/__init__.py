"""Breaking changes: containment of schemas, and changes between the contracts of two catalogs."""

from .changes import ContractChange, TextChange, step_made, step_of
from .comparison import compare, ranked
from .containment import contains
from .contracts import Contract, contract_of, contract_of_server
from .documents import SchemaDocument
from .proof import Gap
from .rules import BY_CODE, KINDS, PARTIES, RULES, ChangeRule, Kind, Party, Step
from .suspended_calls import SuspendedCallRecord, suspended_call_changes

__all__ = [
    "BY_CODE",
    "KINDS",
    "PARTIES",
    "RULES",
    "ChangeRule",
    "Contract",
    "ContractChange",
    "Gap",
    "Kind",
    "Party",
    "SchemaDocument",
    "Step",
    "SuspendedCallRecord",
    "TextChange",
    "compare",
    "contains",
    "contract_of",
    "contract_of_server",
    "ranked",
    "step_made",
    "step_of",
    "suspended_call_changes",
]
