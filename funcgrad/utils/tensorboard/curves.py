"""Precision-recall curves for TensorBoard: how many of each kind lie at or above each threshold.

Source: tensorboard/plugins/pr_curve/plugin_data.proto, and its README for the order of the rows.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from funcgrad.utils.tensorboard.event_file import content, integer, plugin

MOST_THRESHOLDS = 127


def pr_table(labels: NDArray[Any], predictions: NDArray[Any], thresholds: int, weights: Any = None) -> NDArray[Any]:
    """Return true and false positives, true and false negatives, precision and recall at evenly spaced thresholds.

    Shape: labels and predictions (n,), the predictions from 0 to 1; result (6, thresholds).
    """
    weights = np.ones(labels.shape) if weights is None else np.broadcast_to(weights, labels.shape)
    bucket = np.floor(predictions * (thresholds - 1)).astype(np.int64)
    share = weights * labels.astype(np.float64)
    hits = np.bincount(bucket, share, thresholds)[::-1].cumsum()[::-1]
    misses = np.bincount(bucket, weights - share, thresholds)[::-1].cumsum()[::-1]
    lost = hits[0] - hits
    least = 1e-7
    precision, recall = hits / np.maximum(least, hits + misses), hits / np.maximum(least, hits + lost)
    return np.stack([hits, misses, misses[0] - misses, lost, precision, recall])


def pr_value(table: NDArray[Any], thresholds: int) -> bytes:
    """Return the fields of a summary's value for a table of `pr_table`."""
    shape = b"".join(content(2, integer(1, size)) for size in table.shape)
    numbers = struct.pack(f"<{table.size}f", *table.reshape(-1))
    tensor = integer(1, 1) + content(2, shape) + content(5, numbers)
    return plugin("pr_curves", integer(2, thresholds)) + content(8, tensor)
