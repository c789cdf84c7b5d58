"""How long a process group waits, as a name that scripts hand on; with one process nothing waits."""

from __future__ import annotations

from datetime import timedelta

default_pg_timeout: timedelta = timedelta(minutes=30)
default_pg_nccl_timeout: timedelta | None = None
