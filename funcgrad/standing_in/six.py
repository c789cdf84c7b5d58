"""torch._six, which old scripts import: Python 3's own names."""

from __future__ import annotations

import collections.abc as container_abcs
import math

string_classes = (str, bytes)
int_classes = int
inf, nan = math.inf, math.nan

__all__ = ["container_abcs", "inf", "int_classes", "nan", "string_classes"]
