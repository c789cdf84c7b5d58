"""detect_anomaly: a NaN that a backward returns is an error, which is told with the forward line that made it."""

from __future__ import annotations

import warnings

from funcgrad._tape.anomalies import Anomalies


class set_detect_anomaly:  # noqa: N801 - torch's own spelling
    """Switch anomaly detection; as a block, for its duration."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (Anomalies.on, Anomalies.check_nan)
        Anomalies.on, Anomalies.check_nan = mode, check_nan

    def __enter__(self) -> None:
        """The mode was set when this was made."""

    def __exit__(self, *_: object) -> None:
        Anomalies.on, Anomalies.check_nan = self._before


class detect_anomaly(set_detect_anomaly):  # noqa: N801 - torch's own spelling
    """Detect anomalies inside: RuntimeError names the backward that returned NaN, a warning shows its forward line."""

    def __init__(self, check_nan: bool = True) -> None:
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            UserWarning,
            stacklevel=2,
        )
        super().__init__(True, check_nan)


set_anomaly_enabled = set_detect_anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Tell whether anomaly detection looks for NaN."""
    return Anomalies.check_nan


def is_anomaly_enabled() -> bool:
    """Tell whether anomaly detection is on."""
    return Anomalies.on
