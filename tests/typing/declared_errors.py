"""What type checkers say about the details of declared errors."""

from tests.cases.errors.gen import device_service
from tests.cases.errors.gen.home.toolsets import devices
from tests.cases.errors.gen.types import NotFound
from toolgen.runtime import ToolResult

MISSING = NotFound(id="d9", close=[])

devices.READ_NOT_FOUND.of("no device d9", MISSING)
devices.READ_NOT_FOUND.of("no device d9")  # wrong
devices.READ_NOT_FOUND.of("no device d9", devices.ReadTooOften(wait_s=1))  # wrong
devices.READ_NOT_FOUND.of(MISSING)  # wrong
devices.READ_OFFLINE.of("it sleeps")
devices.READ_OFFLINE.of("it sleeps", MISSING)  # wrong
device_service.READ_NOT_FOUND.of("no device d9", MISSING)
device_service.READ_NOT_FOUND.of("no device d9")  # wrong


def waits(result: ToolResult) -> int:
    """Return the seconds to wait."""
    found = devices.READ_TOO_OFTEN.get(result)
    text: str | None = found  # wrong
    return len(text or "") if found is None else found.wait_s
