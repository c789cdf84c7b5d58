"""Pruning: a parameter becomes `name_orig` times the buffer `name_mask`, computed before each forward."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module
from funcgrad.nn.utils.convert_parameters import parameters_to_vector
from funcgrad.random.functions import rand, rand_like

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod:
    """Contract: `compute_mask` says what stays. Gift: the hook that masks a parameter before each forward.

    PRUNING_TYPE says what a second pruning looks at: "unstructured" single elements, "structured" slices along `dim`,
    "global" everything.
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return what stays of `default_mask`, judging by `t`: 1 where an element stays, else 0."""
        raise NotImplementedError(f"{type(self).__name__} must write compute_mask")

    def __call__(self, module: Module, inputs: Any) -> None:
        """Compute the masked parameter."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module: Module) -> Tensor:
        """Return the parameter times its mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """Return `t` with zeros where this method prunes."""
        mask = fg.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(t if importance_scores is None else importance_scores, default_mask=mask)

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter of the module, on top of what is pruned already."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        present = _method_of(module, name)
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} vs "
                f"{original.shape}"
            )
        known = fg.ones_like(original) if present is None else getattr(module, name + "_mask").clone()
        chosen = method if present is None else _together(present, method, name)
        mask = chosen.compute_mask(scores, default_mask=known.detach()).detach()  # raises before anything has changed
        if present is None:
            module.register_parameter(name + "_orig", original)  # refuses what is no Parameter before one is deleted
            del module._parameters[name]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, chosen.apply_mask(module))
        if present is not None:
            _drop_hook(module, present)
        module.register_forward_pre_hook(chosen)
        return chosen

    def remove(self, module: Module) -> None:
        """Make the masked parameter a plain one."""
        name = self._tensor_name
        weight = self.apply_mask(module).detach()
        original = module._parameters.pop(name + "_orig")
        del module._buffers[name + "_mask"]
        assert original is not None
        original.data = weight
        delattr(module, name)
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several prunings of one parameter: a new one looks only at what the others have left."""

    PRUNING_TYPE = "global"

    def __init__(self, *methods: BasePruningMethod) -> None:
        self._pruning_methods = methods

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, place: int) -> BasePruningMethod:
        return self._pruning_methods[place]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of the last method, combined with the others' mask."""
        method, mask = self._pruning_methods[-1], default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "global":
            return method.compute_mask(t, default_mask=mask)
        kept = mask.detach().bool()
        if method.PRUNING_TYPE == "unstructured":
            places = kept.reshape(-1).nonzero().squeeze(1)
            partial = method.compute_mask(t.reshape(-1)[places], default_mask=mask.reshape(-1)[places])
            return mask.reshape(-1).index_copy(0, places, partial.to(dtype=mask.dtype)).reshape(mask.shape)
        dim = method.dim % t.dim()  # type: ignore[attr-defined]  # a structured method has it
        others = [place for place in range(t.dim()) if place != dim]
        places = kept.any(others).nonzero().squeeze(1)
        partial = method.compute_mask(t.index_select(dim, places), default_mask=mask.index_select(dim, places))
        return mask.index_copy(dim, places, partial.to(dtype=mask.dtype))


class Identity(BasePruningMethod):
    """Prune nothing; make `name_orig` and `name_mask` all the same."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask as it is."""
        return default_mask


class _ByAmount(BasePruningMethod):
    """What prunes a number of elements, or a part of them."""

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount


class RandomUnstructured(_ByAmount):
    """Prune elements at random."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask without the drawn elements."""
        count = _count(self.amount, t.numel())
        if not count:
            return default_mask
        return _without(default_mask, rand_like(t).reshape(-1).topk(count).indices)


class L1Unstructured(_ByAmount):
    """Prune the elements of least magnitude."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask without the least elements."""
        count = _count(self.amount, t.numel())
        if not count:
            return default_mask
        return _without(default_mask, t.abs().reshape(-1).topk(count, largest=False).indices)


class RandomStructured(_ByAmount):
    """Prune whole slices along `dim` at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask without the drawn slices."""
        _check_structured(t)
        _check_dim(t, self.dim)
        count = _count(self.amount, t.shape[self.dim])
        if not count:
            return default_mask
        places = rand(t.shape[self.dim], dtype=t.dtype).topk(count, largest=False).indices
        return default_mask.index_fill(self.dim, places.to(t.device), 0)


class LnStructured(RandomStructured):
    """Prune the slices along `dim` of least n-norm."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask without the least slices."""
        _check_structured(t)
        _check_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        others = [place for place in range(t.dim()) if place != self.dim % t.dim()]
        kept = t.norm(self.n, others).topk(size - count).indices
        return default_mask * fg.zeros_like(default_mask).index_fill(self.dim, kept, 1)


class CustomFromMask(BasePruningMethod):
    """Prune by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return both masks together."""
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune `amount` elements (a number, or a part) at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prune the `amount` elements (a number, or a part) of least magnitude."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune `amount` slices (a number, or a part) along `dim` at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the `amount` slices (a number, or a part) along `dim` of least n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune by this mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one vector."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    places = list(parameters)
    known: Any = importance_scores or {}
    if pruning_method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {pruning_method.PRUNING_TYPE}"
        )
    scores = [known.get(place, getattr(*place)).detach() for place in places]
    masks = [getattr(module, name + "_mask", fg.ones_like(getattr(module, name))) for module, name in places]
    method = pruning_method(**kwargs)
    container = PruningContainer(method)
    whole = container.compute_mask(parameters_to_vector(scores), parameters_to_vector(masks))
    start = 0
    for module, name in places:
        parameter = getattr(module, name)
        custom_from_mask(module, name, whole[start : start + parameter.numel()].reshape(parameter.shape))
        start += parameter.numel()


def is_pruned(module: Module) -> bool:
    """Tell whether this module, or one below it, has a pruned parameter."""
    return any(
        isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values()
    )


def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter a plain one; what was pruned stays zero."""
    method = _method_of(module, name)
    if method is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    method.remove(module)
    _drop_hook(module, method)
    return module


def _method_of(module: Module, name: str) -> BasePruningMethod | None:
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return hook
    return None


def _drop_hook(module: Module, method: BasePruningMethod) -> None:
    for key, hook in module._forward_pre_hooks.items():
        if hook is method:
            del module._forward_pre_hooks[key]
            return


def _together(present: BasePruningMethod, method: BasePruningMethod, name: str) -> PruningContainer:
    before = tuple(present) if isinstance(present, PruningContainer) else (present,)
    container = PruningContainer(*before, method)
    container._tensor_name = name
    return container


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    is_part = not isinstance(amount, numbers.Integral)
    if float(amount) < 0 or (is_part and float(amount) > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount: Any, size: int) -> int:
    if not isinstance(amount, numbers.Integral):
        return round(float(amount) * size)
    count = int(amount)
    if count > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return count


def _without(mask: Tensor, places: Tensor) -> Tensor:
    """Return the mask with zeros at these places of its elements, counted in a row."""
    return mask.reshape(-1).index_fill(0, places, 0).reshape(mask.shape)


def _check_structured(t: Tensor) -> None:
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )


def _check_dim(t: Tensor, dim: int) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
