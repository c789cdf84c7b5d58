"""torch.functional: where torch keeps some of its plain functions (einsum, split, norm, ...); all of them are here."""

from funcgrad._tensor.functions import lookup, names_under
from funcgrad._tensor.overriding import has_torch_function as has_torch_function

__getattr__ = lookup("", globals())


def __dir__() -> list[str]:
    return names_under("")


globals().update(__all__=__dir__())  # `from torch.functional import *`
