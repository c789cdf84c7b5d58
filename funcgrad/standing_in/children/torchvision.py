"""torchvision in a process that one under `python -m funcgrad` started: once imported, funcgrad takes its place."""

from funcgrad.standing_in import take_place

take_place(__name__)
