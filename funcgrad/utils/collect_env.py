"""torch.utils.collect_env: what runs here, for reports of faults."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from funcgrad._tensor.placement import device_of


def get_pretty_env_info() -> str:
    """Return the versions of Python, JAX and funcgrad, and the device."""
    found = {
        **{package: _version(package) for package in ("funcgrad", "jax", "jaxlib")},
        "Python": platform.python_version(),
        "OS": platform.platform(),
        "device": str(device_of(None)),
    }
    return "\n".join(f"{name}: {value}" for name, value in found.items())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "run from its source, not installed"


def main() -> None:
    """Print it."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
