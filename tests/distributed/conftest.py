"""A process group of one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from funcgrad import distributed as dist


@pytest.fixture
def group() -> Iterator[None]:
    dist.init_process_group("gloo", rank=0, world_size=1)
    yield
    dist.destroy_process_group()
