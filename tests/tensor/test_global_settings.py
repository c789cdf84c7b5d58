"""What the process-wide switches answer before anybody has set them."""

from __future__ import annotations

from funcgrad._tensor.global_settings import threads_asked_for


def test_the_count_of_threads_is_that_of_the_environment() -> None:
    said = ({"OMP_NUM_THREADS": "1"}, {"MKL_NUM_THREADS": "2"}, {"OMP_NUM_THREADS": "64"}, {"OMP_NUM_THREADS": "x"}, {})
    assert [threads_asked_for(each, 4) for each in said] == [1, 2, 4, 4, 4]
