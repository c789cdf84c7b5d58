"""torch.fft: the table's rows under that name, and the frequencies that their results belong to."""

from funcgrad._tensor.functions import lookup, names_under
from funcgrad.fft.frequencies import fftfreq as fftfreq
from funcgrad.fft.frequencies import rfftfreq as rfftfreq

__getattr__ = lookup("fft", globals())


def __dir__() -> list[str]:
    return sorted({"fftfreq", "rfftfreq", *names_under("fft")})


globals().update(__all__=__dir__())  # `from torch.fft import *`
