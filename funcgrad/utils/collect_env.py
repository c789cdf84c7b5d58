"""torch.utils.collect_env: what runs here, for reports of faults."""

from __future__ import annotations

import platform
from importlib.metadata import version

from funcgrad._tensor.placement import device_of


def get_pretty_env_info() -> str:
    """Return the versions of Python, JAX and funcgrad, and the device."""
    found = {
        "funcgrad": version("funcgrad"),
        "jax": version("jax"),
        "jaxlib": version("jaxlib"),
        "Python": platform.python_version(),
        "OS": platform.platform(),
        "device": str(device_of(None)),
    }
    return "\n".join(f"{name}: {value}" for name, value in found.items())


def main() -> None:
    """Print it."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
