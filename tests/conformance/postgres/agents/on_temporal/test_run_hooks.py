"""Hooks of runs that are executed on a Temporal server."""

from tests.agents import test_run_hooks as hooks

test_whole_run = hooks.test_one_hook_hears_of_a_whole_run_and_all_hooks_run
test_child_run = hooks.test_a_child_run_has_its_own_beginning_and_end
test_end = hooks.test_the_end_of_a_run_has_its_reason
test_failures = hooks.test_a_hook_that_only_hears_loses_no_result
