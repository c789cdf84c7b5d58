"""Optax: any optax transformation as an optimizer of imperative code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from funcgrad._ops.table import Array, Arrays, Op
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.names import flush, rebind, record
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import dense_gradients
from funcgrad.optim.optimizer import Optimizer, ParamsT
from funcgrad.optim.recorded import evaluated, unless


class Optax(Optimizer):
    """Steps as an optax transformation says: `Optax(model.parameters(), optax.lion(1e-4))`.

    The transformation sees all parameters as one list. For a parameter without a gradient it is given zeros, and the
    parameter is not changed. Rates and schedules are the transformation's own; what optax.inject_hyperparams holds is
    found by name in `hyperparams`. Closures and state_dict work as everywhere.
    """

    found_inf: Tensor | None = None  # 0-d, from a GradScaler: where it is not 0 a step changes nothing
    skips_where_found_inf = True

    def __init__(self, params: ParamsT, transformation: optax.GradientTransformation) -> None:
        super().__init__(params, {})
        self._transformation = optax.with_extra_args_support(transformation)
        self._begin = Op(_beginning(self._transformation))
        self._update = Op(_updating(self._transformation))
        self._begin_state()

    def _begin_state(self) -> None:
        params = self._params()
        shapes = [jax.ShapeDtypeStruct(tuple(p.shape), p.dtype.numpy) for p in params]
        with jax.enable_x64(True):
            self._tree = jax.tree.structure(jax.eval_shape(self._transformation.init, shapes))
        leaves = record(self._begin, params) if self._tree.num_leaves else []
        self.state["optax"] = [Tensor._of(leaf) for leaf in leaves]
        # the first step reads a state that is there, as all others do, so it is the same program
        flush()

    @property
    def hyperparams(self) -> dict[str, Tensor]:
        """The numbers that optax.inject_hyperparams made part of the state; write to one in place to change it."""
        found = optax.tree.get_all_with_path(self._state_tree(), "hyperparams")
        return {name: number for _, numbers in found for name, number in numbers.items()}

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change all parameters that have a gradient. `closure` computes the loss anew and is what `step` returns."""
        loss = evaluated(closure)
        params = self._params()
        present = tuple(param.grad is not None for param in params)
        if any(present):
            state = self.state["optax"]
            found = zip(params, dense_gradients(params), strict=True)
            grads = [param if grad is None else grad for param, grad in found]
            changed = [param for param in params if param.grad is not None] + state
            values = record(self._update, [*params, *grads, *state], (present, self._tree))
            rebind(changed, values if self.found_inf is None else unless(self.found_inf, changed, values))
        return loss

    def _params(self) -> list[Tensor]:
        return [param for group in self.param_groups for param in group["params"]]

    def _state_tree(self) -> Any:
        return jax.tree.unflatten(self._tree, self.state["optax"])

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group while this is made; later raise ValueError: the state has the structure of its parameters."""
        if hasattr(self, "_transformation"):
            raise ValueError("Optax cannot take further parameters: make a new one for all of them")
        super().add_param_group(param_group)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned; the state's own dtypes stay."""
        kept = [from_host(to_host(leaf)) for leaf in state_dict["state"]["optax"]]
        if len(kept) != self._tree.num_leaves:
            raise ValueError(
                "loaded state dict is that of another optax transformation: its state has another structure"
            )
        super().load_state_dict({**state_dict, "state": {"optax": kept}})

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_transformation": self._transformation, "_tree": self._tree}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._begin, self._update = Op(_beginning(self._transformation)), Op(_updating(self._transformation))


def _beginning(transformation: Any) -> Callable[..., tuple[Array, ...]]:
    def begin(arrays: Arrays) -> tuple[Array, ...]:
        return tuple(map(jnp.asarray, jax.tree.leaves(transformation.init(list(arrays)))))

    return begin


def _updating(transformation: Any) -> Callable[..., tuple[Array, ...]]:
    def update(arrays: Arrays, present: tuple[bool, ...], tree: Any) -> tuple[Array, ...]:
        count = len(present)
        params, grads, leaves = list(arrays[:count]), arrays[count : 2 * count], arrays[2 * count :]
        grads = [grad if is_there else jnp.zeros_like(grad) for grad, is_there in zip(grads, present, strict=True)]
        state = jax.tree.unflatten(tree, leaves)
        updates, after = transformation.update(grads, state, params)
        moved: Any = optax.apply_updates(params, updates)
        changed = [param for param, is_there in zip(moved, present, strict=True) if is_there]
        # schedules may compute in float64 here; each number of the state keeps the dtype that it began with
        kept = [jnp.asarray(new).astype(old.dtype) for new, old in zip(jax.tree.leaves(after), leaves, strict=True)]
        return (*changed, *kept)

    return update
