"""torch.linalg: the table's rows under that name."""

from funcgrad._base.errors import LinAlgError as LinAlgError
from funcgrad._tensor.functions import lookup, names_under

__getattr__ = lookup("linalg", globals())


def __dir__() -> list[str]:
    return sorted({"LinAlgError", *names_under("linalg")})


globals().update(__all__=__dir__())  # `from torch.linalg import *`
