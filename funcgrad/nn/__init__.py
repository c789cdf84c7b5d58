"""torch.nn: modules that own parameters, their functions, initial values, and what is done to whole modules."""

from __future__ import annotations

from funcgrad.nn import functional as functional
from funcgrad.nn import init as init

