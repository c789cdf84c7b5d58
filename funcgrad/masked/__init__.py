"""torch.masked: tensors with a mask, and reductions and normalizations that leave out what does not count."""

from funcgrad.masked import functions as _functions
from funcgrad.masked.functions import _input_mask as _input_mask
from funcgrad.masked.functions import _output_mask as _output_mask
from funcgrad.masked.functions import amax as amax
from funcgrad.masked.functions import amin as amin
from funcgrad.masked.functions import argmax as argmax
from funcgrad.masked.functions import argmin as argmin
from funcgrad.masked.functions import cumprod as cumprod
from funcgrad.masked.functions import cumsum as cumsum
from funcgrad.masked.functions import log_softmax as log_softmax
from funcgrad.masked.functions import logaddexp as logaddexp
from funcgrad.masked.functions import logsumexp as logsumexp
from funcgrad.masked.functions import mean as mean
from funcgrad.masked.functions import median as median
from funcgrad.masked.functions import norm as norm
from funcgrad.masked.functions import normalize as normalize
from funcgrad.masked.functions import prod as prod
from funcgrad.masked.functions import softmax as softmax
from funcgrad.masked.functions import softmin as softmin
from funcgrad.masked.functions import std as std
from funcgrad.masked.functions import sum as sum
from funcgrad.masked.functions import var as var
from funcgrad.masked.maskedtensor import MaskedTensor as MaskedTensor
from funcgrad.masked.maskedtensor import as_masked_tensor as as_masked_tensor
from funcgrad.masked.maskedtensor import is_masked_tensor as is_masked_tensor
from funcgrad.masked.maskedtensor import masked_tensor as masked_tensor
from funcgrad.masked.maskedtensor.given import takes_masked as _takes_masked

_ops = _functions  # where torch has them
for _name in (
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logsumexp", "mean", "median", "norm",
    "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
):  # fmt: skip
    globals()[_name] = _takes_masked(getattr(_functions, _name))
