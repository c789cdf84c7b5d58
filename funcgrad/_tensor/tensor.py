"""A Tensor is a name for a Variable: in-place ops bind the name anew, views know how to write back to their base.

Only what every tensor is and has stands here; methods that compute are installed from the table by `methods`. What
funcgrad's own rooms need of a tensor begins with an underscore (`_of`, `_current`, `_leaf`, `_write`), since all other
names are torch's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from funcgrad._base.cpp_names import c_type_name, scalar_type_name
from funcgrad._base.devices import device
from funcgrad._base.dtypes import dtype
from funcgrad._base.naming import c_class_name, typename
from funcgrad._base.size import Size
from funcgrad._base.warning import warn
from funcgrad._program.record import array_of, note_gradient
from funcgrad._program.value import CONSTANT, LiftedValue
from funcgrad._tape.modes import Inference, thread
from funcgrad._tape.nodes import GradSlot, RemovableHandle
from funcgrad._tape.variable import Names, Variable
from funcgrad._tensor.aliases import ALONE, Cell, View, cell_of, refuse_ambiguous, shared_with, version_of, write
from funcgrad._tensor.placement import device_of

_NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the "
    "leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)
_CHANGED_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
    "that doesn't require differentiation use var_no_grad = var.detach()."
)


class _Methods(type):
    """Lets methods of the table be made at first use: `Tensor.softmax` is looked up here when the class lacks it."""

    find: Callable[[str], Any]  # `methods` sets both
    names: Callable[[], list[str]]

    def __getattr__(cls, name: str) -> Any:
        found = _Methods.find(name)
        if found is None:
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        setattr(Tensor, name, found)
        return found

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *_Methods.names()})


class Tensor(metaclass=_Methods):
    """A name for an array, here or promised, and its history. Shape, dtype and device are known before it runs."""

    __slots__ = ("__dict__", "__weakref__", "_alias", "_made_in_inference", "_slot", "_variable", "_writes")
    __array_priority__ = 1000  # numpy leaves `array * tensor` to us, who refuse it as torch does
    _prints_plainly = True  # as "tensor(...)"; subclasses print under their own names
    if TYPE_CHECKING:  # at run time `typing.get_type_hints` would look for these names where torch's stand
        _variable: Variable
        _alias: View | Cell | None
        _slot: GradSlot | None
        _made_in_inference: bool
        _writes: int  # how often it was written to under this name alone; counted from ALONE: only there, as `.data` is
        make: Callable[..., Tensor]  # Tensor(...) of old scripts; `creation` sets it

    def __new__(cls, *data: Any, device: Any = None) -> Tensor:
        made = cls.make(cls, *data, device=device)
        return made if cls is Tensor else made._of_class(cls)

    @staticmethod
    def _of(variable: Variable) -> Tensor:
        """Return a new name for `variable`."""
        self = _new(Tensor)
        self._variable = variable
        self._alias = self._slot = None
        self._writes = 0
        self._made_in_inference = Inference.entered and thread.inference
        return self

    @classmethod
    def _leaf(cls, variable: Variable, requires_grad: bool = False) -> Any:
        """Return a new leaf of this class, without the variable's history."""
        self = _new(cls)
        self._variable = variable.detached()
        self._alias = self._slot = None
        self._writes = 0
        self._made_in_inference = Inference.entered and thread.inference
        if requires_grad:
            self._set_requires_grad(True, "Only Tensors of floating point and complex dtype can require gradients")
        return self

    def _of_class(self, cls: type[Any]) -> Any:
        """Return the tensor itself, its history and its storage, under another class of Tensor."""
        other = object.__new__(cls)
        other._variable, other._slot = self._current(), self._slot
        other._alias = self._alias.again() if type(self._alias) is View else cell_of(self)
        other._made_in_inference, other._writes = self._made_in_inference, self._writes
        return other

    def _current(self) -> Variable:
        """Return the Variable that this name stands for now, whatever was written through its aliases."""
        if self._alias is not None:
            self._alias.refresh(self)
        return self._variable

    def _as_gradient(self) -> Variable:
        """Return what the backward pass knows of this tensor where it is a gradient."""
        return self._current()

    def _materialize(self) -> Tensor:
        """Put a constant (zeros, ones, full) or a host array on the device: parameters and buffers live there."""
        value = self._current().value
        if value.program is CONSTANT or value.array is not None:
            array_of(value)
        return self

    # What it is

    @property
    def shape(self) -> Size:
        """The sizes of its dimensions, known before anything is computed."""
        return self._current().value.aval.shape

    @property
    def dtype(self) -> dtype:
        """What its elements are, known before anything is computed."""
        return self._variable.value.aval.dtype

    @property
    def device(self) -> device:
        """Where it is, or will be."""
        return device_of(self._current().value.aval.placement)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def _cdata(self) -> int:
        """A number that no other tensor has while this one lives."""
        return id(self)

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made it: its gradient, if one is wanted, is kept in `.grad`."""
        node = self._current().node
        return node is None or type(node) is GradSlot

    @property
    def grad_fn(self) -> Any:
        """The node of the backward graph that made it; None for a leaf."""
        node = self._current().node
        return None if type(node) is GradSlot else node

    @property
    def output_nr(self) -> int:
        """Which result of its `grad_fn` it is."""
        view, variable = self._alias, self._current()
        is_one_of_many = type(view) is View and view.place is not None and variable.node is not None
        return view.place if is_one_of_many else variable.index

    @property
    def _base(self) -> Tensor | None:
        base = found = self
        while type(view := base._alias) is View and not view.is_detached:
            if view.is_renaming:  # it is what its former name is a view of
                base = view.since.name  # type: ignore[union-attr]  # a Former
            else:
                base = found = view.base
        return None if found is self else found

    @property
    def _whole(self) -> Tensor:
        """The name of the storage that it reads: itself where it is no view."""
        whole = self
        while type(whole._alias) is View:
            whole = whole._alias.base
        return whole

    # Gradients

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed with respect to it; a view without history says what its base says."""
        if self._current().node is not None:
            return True
        whole, view = self, self._alias
        while type(view) is View and view.op.grad and whole._variable.value.aval.differentiable:
            whole = view.base  # as it is now, as is what it is a view of
            if whole._variable.node is not None:
                return True
            view = whole._alias
        return False

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        self._set_requires_grad(value, "only Tensors of floating point and complex dtype can require gradients")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say whether gradients of this leaf are wanted; returns the tensor itself.

        Raises RuntimeError for a tensor that is no leaf (False), or (True) whose dtype has no gradients, or that was
        made in inference mode.
        """
        if type(requires_grad) is not bool:
            kind = typename(requires_grad)
            raise TypeError(f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {kind}")
        return self._set_requires_grad(requires_grad, "only Tensors of floating point dtype can require gradients")

    def _set_requires_grad(self, requires_grad: bool, refusal: str) -> Tensor:
        variable = self._current()
        if requires_grad and not thread.inference and self.is_inference():
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if not self.is_leaf:
            if not requires_grad:
                raise RuntimeError(_CHANGED_LEAF)
        elif not requires_grad:
            self._variable = variable.detached()
            if self._slot is not None:
                self._slot.frozen = True
        elif not variable.aval.differentiable:
            raise RuntimeError(refusal)
        elif variable.node is None:
            self._variable = Variable(variable.value, self._gather_in(variable))
            self._variable.node.frozen = False
        return self

    def _gather_in(self, variable: Variable) -> GradSlot:
        if self._slot is None:
            note_gradient()
            self._slot = GradSlot(self, variable.aval)
        self._slot.aval = variable.aval
        return self._slot

    @property
    def grad(self) -> Tensor | None:
        """The sum of the gradients of backward passes; None before the first. A non-leaf keeps none unless asked."""
        slot = self._slot
        if slot is None or slot.grad is None:
            if not self.is_leaf and slot is None:
                warn(_NON_LEAF_GRAD)
            return None
        return slot.grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is None:
            if self._slot is not None:
                self._slot.grad = None
            return
        if not isinstance(value, Tensor):
            kind = type(value).__name__
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {kind}")
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value.shape != self.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if value.device.type != self.device.type:
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device type "
                f"'{self.device.type}'. Please ensure that the gradient and the tensor are on the same device"
            )
        if value.dtype is not self.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{c_type_name(value.dtype)}' to a tensor with grad_dtype "
                f"'{scalar_type_name(self.dtype)}'. The gradient must match the tensor's "
                "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
                "specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a "
                "tensor and its gradient may break downstream systems that assume they match."
            )
        self._gather_in(self._current()).grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    _grad = grad  # asynchronous actors hand theirs over by `shared._grad = local.grad`

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `.grad` too; on a leaf it does nothing."""
        variable = self._current()
        if variable.node is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if not self.is_leaf:
            node = variable.node
            node.retained = node.retained or {}
            node.retained[variable.index] = self._gather_in(variable)

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf keeps its gradient in `.grad`, as `retain_grad` asks."""
        return not self.is_leaf and self._slot is not None

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call hook(grad) when this tensor's gradient is computed; what it returns replaces the gradient."""
        variable = self._current()
        if variable.node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return RemovableHandle(variable.node.hooks_before(variable.index), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call hook(leaf) once the leaf's `.grad` has been accumulated."""
        slot = self._current().node
        if slot is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if type(slot) is not GradSlot:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        slot.post_hooks = {} if slot.post_hooks is None else slot.post_hooks
        return RemovableHandle(slot.post_hooks, hook)

    # Other names for the same value

    def detach(self) -> Tensor:
        """Return another name for the same storage, without history: writes through one are seen through the other."""
        if type(self._alias) is View:
            view, variable = self._alias, self._current()
            other = Tensor._of(variable.detached())
            other._alias = view.detached()
            return other
        if isinstance(self._variable.value, LiftedValue):  # cut off at every level, so it is another value
            return Tensor._of(self._variable.detached())
        cell = cell_of(self)
        cell.refresh(self)
        other = Tensor._of(self._variable.detached())
        other._alias, other._writes = cell, self._writes
        other._made_in_inference = self._made_in_inference
        return other

    def detach_(self) -> Tensor:
        """Drop the history of this very tensor."""
        if self._base is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                "detach_() cannot be called on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        variable, grad = self._current().detached(), self.grad if self._slot is not None else None
        self._variable, self._slot = variable, None
        if grad is not None:
            self._gather_in(variable).grad = grad
        return self

    @property
    def data(self) -> Tensor:
        """The same storage without history, which counts writes through it by itself (`_version`).

        Assigning gives the tensor another value under its own history.
        """
        other = self.detach()
        other._whole._writes = ALONE
        return other

    @data.setter
    def data(self, new: Tensor) -> None:
        if not isinstance(new, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {typename(new)}")
        if self.requires_grad and not new.dtype.is_differentiable:
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        value = new._current().value
        old, version = self._current(), version_of(self)
        self._alias = shared_with(new)
        self._variable = Variable(value, old.node, old.index)
        self._writes += version - version_of(self)
        if self._slot is not None:
            self._slot.aval = value.aval

    def _write(self, new: Variable) -> Tensor:
        """Bind this name (and the storage that it shares) to a value computed in place of the present one."""
        old = self._variable
        if new.node is None and old.node is not None:
            new = Variable(new.value, old.node, old.index)
        write(self, new)
        return self

    def _check_writable(self) -> None:
        """Refuse to change a leaf that requires grad while history is kept, and what was made in inference mode."""
        if Inference.entered and not thread.inference and self.is_inference():
            raise RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not allowed."
                "You can make a clone to get a normal tensor before doing inplace update."
                "See https://github.com/pytorch/rfcs/pull/17 for more details."
            )
        if thread.grad and type(self._current().node) is GradSlot:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        if thread.grad and type(self._alias) is View and self.requires_grad:
            refuse_ambiguous(self)
        read = self
        while thread.grad and type(read._alias) is View:
            read = read._alias.base  # a leaf may be a view itself: of what requires no grad
            if type(read._current().node) is GradSlot and self.requires_grad:
                raise RuntimeError(
                    "a view of a leaf Variable that requires grad is being used in an in-place operation."
                )

    def __getattr__(self, name: str) -> Any:
        if name == "_variable" and self._alias is not None:  # of what is not selected yet
            return self._current()
        if _Methods.find(name) is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(type(self), name).__get__(self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(type(self))})

    def __hash__(self) -> int:
        return id(self)


_new = object.__new__
Tensor.__module__ = "funcgrad"  # where users and pickles find it
Tensor.__qualname__ = "Tensor"
VARIABLE = Tensor.__dict__["_variable"]
ALIAS = Tensor.__dict__["_alias"]
WRITES = Tensor.__dict__["_writes"]


def _wrap(variable: Variable) -> Tensor:
    return Tensor._of(variable) if type(variable) is Variable else variable.named()


def _unwrap(tensor: Any) -> Variable:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{c_class_name(tensor)}'")
    return tensor._as_gradient()


Names.wrap, Names.unwrap, Names.write = _wrap, _unwrap, write


def variables_of(tensors: Sequence[Any]) -> list[Any]:
    """Return the Variables behind tensors; anything else is returned as it is."""
    return [t._current() if isinstance(t, Tensor) else t for t in tensors]
