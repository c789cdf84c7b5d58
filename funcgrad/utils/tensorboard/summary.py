"""torch.utils.tensorboard.summary: summaries made by hand, for `SummaryWriter.file_writer.add_summary`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from funcgrad.utils.tensorboard.event_file import Summary
from funcgrad.utils.tensorboard.hparams import hparam_values

__all__ = ["hparams"]


def hparams(
    hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], hparam_domain_discrete: Any = None
) -> tuple[Summary, Summary, Summary]:
    """Return what announces a run: its hyperparameters and metrics, its start with their values, and its end.

    TypeError for what is no dictionary. `hparam_domain_discrete` is accepted, and not written.
    """
    for name, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    experiment, start, end = map(Summary, hparam_values(hparam_dict, metric_dict))
    return experiment, start, end
