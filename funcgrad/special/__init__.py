"""torch.special: the table's rows under that name."""

from funcgrad._tensor.functions import lookup, names_under

__getattr__ = lookup("special", globals())


def __dir__() -> list[str]:
    return names_under("special")


globals().update(__all__=__dir__())  # `from torch.special import *`
