"""Intermediate results of work whose runs are on a Temporal server, and whose sessions are in PostgreSQL."""

from tests.agents import test_intermediate_results as intermediate

test_order = intermediate.test_each_opens_a_turn_in_order_and_the_result_comes_last
test_end = intermediate.test_there_is_none_after_the_end
test_busy_session = intermediate.test_they_wait_for_the_turn_of_the_session_and_keep_their_order
test_forged = intermediate.test_what_nobody_has_sealed_reaches_no_model
test_many_at_once = intermediate.test_what_was_sent_at_once_is_sent_in_some_order
