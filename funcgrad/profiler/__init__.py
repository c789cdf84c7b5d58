"""torch.profiler: how long the parts of a loop take, in a table, and as a trace for Chrome or TensorBoard."""

from __future__ import annotations

from funcgrad.profiler.events import EventList, record_function
from funcgrad.profiler.profile import (
    ProfilerAction,
    ProfilerActivity,
    kineto_available,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "EventList",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
