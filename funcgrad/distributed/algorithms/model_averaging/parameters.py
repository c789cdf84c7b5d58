"""Means of parameters over processes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from funcgrad.distributed.collectives import all_reduce
from funcgrad.distributed.groups import GroupMember, members
from funcgrad.nn.gradient_buckets import joined, split
from funcgrad.nn.parameter import Parameter


def average_parameters(params: Iterable[Any], process_group: Any) -> None:
    """Replace parameters by their means over a process group; None for all processes."""
    if process_group == GroupMember.NON_GROUP_MEMBER:
        return
    group, given = members(process_group), list(params)
    flat = joined(given).div_(group.size())
    all_reduce(flat, group=group)
    for parameter, found in zip(given, split(flat, given), strict=True):
        parameter.data = found.to(parameter.dtype)


def get_params_to_average(params: Iterable[Any]) -> list[Any]:
    """Return the parameters that have gradients, of parameters or of an optimizer's groups.

    NotImplementedError for other things.
    """
    found = []
    for given in params:
        if not isinstance(given, (Parameter, dict)):
            raise NotImplementedError(f"Parameter input of type {type(given)} is not supported")
        found += [given] if isinstance(given, Parameter) else given["params"]
    return [parameter for parameter in found if parameter.grad is not None]


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: Any) -> None:
    """Replace parameters that have gradients, of a model or of an optimizer's groups, by their means."""
    average_parameters(get_params_to_average(params), process_group)


__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]
