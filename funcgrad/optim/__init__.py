"""torch.optim: optimizers over optax transformations, one recorded call per group and step."""

from __future__ import annotations

from funcgrad.optim import lr_scheduler, swa_utils
from funcgrad.optim.adadelta import Adadelta
from funcgrad.optim.adafactor import Adafactor
from funcgrad.optim.adagrad import Adagrad
from funcgrad.optim.adam import Adam
from funcgrad.optim.adamax import Adamax
from funcgrad.optim.adamw import AdamW
from funcgrad.optim.asgd import ASGD
from funcgrad.optim.lbfgs import LBFGS
from funcgrad.optim.muon import Muon
from funcgrad.optim.nadam import NAdam
from funcgrad.optim.optax_transformation import Optax
from funcgrad.optim.optimizer import Optimizer
from funcgrad.optim.radam import RAdam
from funcgrad.optim.rmsprop import RMSprop
from funcgrad.optim.rprop import Rprop
from funcgrad.optim.sgd import SGD
from funcgrad.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optax",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]  # fmt: skip
