"""Dynamic: what modules with 8-bit weights share: torch's printed names, and weights in state dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from funcgrad.nn.module import Module


class Dynamic(Module):
    """Contract: `_kept` and `_keep`. Gift: a state dict with the weights, which are no parameters."""

    def _kept(self) -> dict[str, Any]:
        """Return what a state dict holds, by torch's names."""
        raise AssertionError("a quantised module says in _kept what its state is")

    def _keep(self, found: Mapping[str, Any]) -> None:
        """Take what a state dict held under the names of `_kept`."""
        raise AssertionError("a quantised module says in _keep where its state goes")

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination.update({f"{prefix}{name}": value for name, value in self._kept().items()})

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        names = list(self._kept())
        missing = [prefix + name for name in names if prefix + name not in state_dict]
        if missing and strict:
            missing_keys += missing
        if not missing:
            self._keep({name: state_dict[prefix + name] for name in names})
        others = {key: value for key, value in state_dict.items() if key.removeprefix(prefix) not in names}
        super()._load_from_state_dict(others, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
