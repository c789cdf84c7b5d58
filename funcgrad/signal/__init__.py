"""torch.signal: window functions, in `signal.windows`."""

from funcgrad.signal import windows as windows
