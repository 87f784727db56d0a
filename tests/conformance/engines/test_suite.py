"""The suite that every engine passes, on a Temporal server."""

from tests.engines.test_activities import *  # noqa: F403
from tests.engines.test_answers import *  # noqa: F403
from tests.engines.test_ends import *  # noqa: F403
from tests.engines.test_event_log import *  # noqa: F403
from tests.engines.test_waits import *  # noqa: F403
