"""Means of models that several processes train on their own for a while."""

from __future__ import annotations

from funcgrad.distributed.algorithms.model_averaging import averagers, parameters

utils = parameters

__all__ = ["averagers", "utils"]
