"""GradScaler: a loss made larger, so that float16 gradients do not vanish, and steps left out where they overflowed.

The scale, whether a gradient was infinite, and the step that is then left out are values of the recorded program: with
funcgrad's own optimizers no number comes over to Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from funcgrad._base.dtypes import float16, float32, int32
from funcgrad._base.warning import warn
from funcgrad._ops.table import TABLE
from funcgrad._tensor import functions as fg
from funcgrad._tensor.names import rebind, record
from funcgrad._tensor.placement import available
from funcgrad._tensor.tensor import Tensor


class OptState(Enum):
    """How far an optimizer has come in the present step."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Scales losses, and unscales gradients before the step; halves the scale where a gradient is inf or NaN.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    After `growth_interval` finite steps in a row the scale is doubled. Source: Micikevicius et al. 2018,
    https://arxiv.org/abs/1710.03740.
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda" and not available("cuda"):
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._init_growth_tracker = init_scale, 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._stages: dict[int, OptState] = {}
        self._found: dict[int, list[Tensor]] = {}  # by optimizer, one a device: 1.0 where a gradient was not finite

    def scale(self, outputs: Any) -> Any:
        """Return a tensor, or all tensors of nested lists and tuples, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._present_scale(outputs.device)
        if isinstance(outputs, Iterable):
            scaled = [self.scale(output) for output in outputs]
            kind: Any = type(outputs)
            return kind(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, for once before its step.

        Raises RuntimeError a second time between updates, ValueError for float16 gradients.
        """
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), OptState.READY)
        if stage == OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._check_scale("unscale_")
        params = [param for group in optimizer.param_groups for param in group["params"] if param.grad is not None]
        by_device: dict[Any, dict[int, Tensor]] = {}
        for param in params:
            if param.grad.dtype is float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            by_device.setdefault(param.device, {})[id(param.grad)] = param.grad
        for device, gradients in by_device.items():
            found, *unscaled = record(TABLE["unscaled"], [*gradients.values(), self._present_scale(device)])
            rebind(list(gradients.values()), unscaled)
            self._found.setdefault(id(optimizer), []).append(Tensor._of(found))
        self._stages[id(optimizer)] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Call `optimizer.step(...)` on unscaled gradients; where one is not finite, nothing changes.

        Raises RuntimeError for a closure, and a second time between updates.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        stage = self._stages.get(id(optimizer), OptState.READY)
        if stage == OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage == OptState.READY:
            self.unscale_(optimizer)
        found = self._found.get(id(optimizer))
        if found is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        self._stages[id(optimizer)] = OptState.STEPPED
        if len(found) > 1 or not getattr(optimizer, "skips_where_found_inf", False):
            return None if any(one.item() for one in found) else optimizer.step(*args, **kwargs)
        (optimizer.found_inf,) = found
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.found_inf

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Make the scale for the next step, or take the one given. Raises AssertionError where nothing was unscaled."""
        if not self._enabled:
            return
        scale, tracker = self._check_scale("update")
        if new_scale is None:
            if not self._found:
                raise AssertionError("No inf checks were recorded prior to update.")
            statics = (self._growth_factor, self._backoff_factor, self._growth_interval)
            found = [one.to(scale.device) for every in self._found.values() for one in every]
            rebind([scale, tracker], record(TABLE["next_scale"], [scale, tracker, *found], statics))
        elif isinstance(new_scale, Tensor):
            if new_scale.numel() != 1 or new_scale.requires_grad or new_scale.dtype is not float32:
                raise AssertionError("new_scale should be a float or a 1-element float32 tensor without requires_grad")
            scale.copy_(new_scale.reshape(()))
        else:
            scale.fill_(new_scale)
        self._stages, self._found = {}, {}

    def get_scale(self) -> float:
        """Return the scale as a number, which waits for it; 1.0 where scaling is off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """Return what the scale is multiplied by after enough finite steps."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by after enough finite steps."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return what the scale is multiplied by after a gradient that was not finite."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by after a gradient that was not finite."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return how many finite steps in a row make the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set how many finite steps in a row make the scale grow."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:  # torch's name, which scripts ask for
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def _found_inf_per_device(self, optimizer: Any) -> dict[Any, Tensor]:  # likewise
        return {found.device: found for found in self._found.get(id(optimizer), ())}

    def is_enabled(self) -> bool:
        """Tell whether this scaler scales."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the scale, its factors and the count of finite steps, as torch does; {} where scaling is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker(),
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned, here or in torch; RuntimeError for that of a disabled scaler."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]

    def __getstate__(self) -> dict[str, Any]:
        if self._stages:
            raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration.")
        kept = self.state_dict()
        changed = {"_init_scale": kept["scale"], "_init_growth_tracker": kept["_growth_tracker"]} if kept else {}
        return {**self.__dict__, **changed, "_scale": None, "_growth_tracker": None}

    def _present_scale(self, device: Any) -> Tensor:
        if self._scale is None:
            self._scale = fg.tensor(self._init_scale, dtype=float32, device=device)
            self._growth_tracker = fg.tensor(self._init_growth_tracker, dtype=int32, device=device)
        return self._scale if self._scale.device == device else self._scale.to(device)

    def _check_scale(self, name: str) -> tuple[Tensor, Tensor]:
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                                 "scaler.scale(loss or outputs) earlier in the iteration.")  # fmt: skip
        return self._scale, self._growth_tracker
