"""torch.autograd.functional: Jacobians, Hessians and their products with vectors, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._tape.modes import enable_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.backwards import grad
from funcgrad.autograd.functional_parts import _as_tuple as _as_tuple
from funcgrad.autograd.functional_parts import _construct_standard_basis_for as _construct_standard_basis_for
from funcgrad.autograd.functional_parts import _grad_postprocess as _grad_postprocess
from funcgrad.autograd.functional_parts import _tuple_postprocess as _tuple_postprocess

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]
Tensors = tuple[Tensor, ...]


def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (func(*inputs), v times the Jacobian). Shape: v as the outputs; the product as the inputs.

    v may be left out for a single output of one element. strict: RuntimeError where an output does not depend on an
    input. create_graph: the results can be differentiated.
    """
    with enable_grad():
        call = _Call("vjp", func, inputs, create_graph, strict)
        vectors = call.vectors(v, call.outputs, "the user-provided function returns a single Tensor")
        found = call.derivatives(call.outputs, call.inputs, vectors, "vjp")
    return call.as_outputs(call.outputs), call.as_inputs(found)


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (func(*inputs), the Jacobian times v). Shape: v as the inputs; the product as the outputs. See `vjp`."""
    with enable_grad():
        call = _Call("jvp", func, inputs, create_graph, strict)
        vectors = call.vectors(v, call.inputs, "the input to the user-provided function is a single Tensor")
        found = call.forward(call.outputs, vectors, "jvp")
    return call.as_outputs(call.outputs), call.as_outputs(found)


def jacobian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Return the Jacobian: (*output, *input) for each output and input, nested as they are, outputs first.

    vectorize: all rows in one batched backward. strategy "forward-mode" needs it, as in torch.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError("torch.autograd.functional.jacobian: `create_graph=True` and "
                                      '`strategy="forward-mode"` are not supported together (yet).')  # fmt: skip
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"  # torch's has no space either
                "only implemented for `vectorize=True`."
            )
    if vectorize and strict:
        raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                           "together. Please either set `strict=False` or `vectorize=False`.")  # fmt: skip
    with enable_grad():
        call = _Call("jacobian", func, inputs, create_graph, strict)
        rows = [call.rows(output, place, vectorize) for place, output in enumerate(call.outputs)]
    found = tuple(call.as_inputs(row) for row in rows)
    return found if call.many_outputs else found[0]


def hessian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Return the second derivatives of a scalar function: (*input, *input) for each pair of inputs, nested."""
    many = isinstance(inputs, tuple)
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def gradient(*given: Tensor) -> Any:
        call = _Call("hessian", func, given, True, strict, fresh=False)
        _require_scalar(call, "hessian")
        return tuple(call.derivatives(call.outputs, call.inputs, [None], "jac"))

    found = jacobian(
        gradient, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )  # fmt: skip
    return found if many else found[0]


def vhp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (func(*inputs), v times the Hessian) of a scalar function. Shape: v and the product as the inputs."""
    with enable_grad():
        call = _Call("vhp", func, inputs, create_graph, strict)
        vectors = call.vectors(v, call.inputs, "the input to the user-provided function is a single Tensor")
        _require_scalar(call, "vhp")
        gradients = call.derivatives(call.outputs, call.inputs, [None], "jac", history=True)
        found = call.derivatives(gradients, call.inputs, vectors, "hessian")
    return call.as_outputs(call.outputs), call.as_inputs(found)


def hvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (func(*inputs), the Hessian times v) of a scalar function. Shape: v and the product as the inputs."""
    with enable_grad():
        call = _Call("hvp", func, inputs, create_graph, strict)
        vectors = call.vectors(v, call.inputs, "the input to the user-provided function is a single Tensor")
        _require_scalar(call, "hvp")
        gradients = call.derivatives(call.outputs, call.inputs, [None], "jac", history=True)
        found = call.forward(gradients, vectors, "hessian")
    return call.as_outputs(call.outputs), call.as_inputs(found)


class _Call:
    """One call of a user's function, on inputs that require grad, and what is derived from it."""

    def __init__(
        self, name: str, func: Function, inputs: Any, create_graph: bool, strict: bool, fresh: bool = True
    ) -> None:
        self.name, self.create_graph, self.strict = name, create_graph, strict
        self.many_inputs = isinstance(inputs, tuple)
        given = _as_tuple(inputs, "inputs", name)[1]
        self.inputs = tuple(_required(x, create_graph) for x in given) if fresh else given
        outputs = func(*self.inputs)
        self.many_outputs = isinstance(outputs, tuple)
        self.outputs = _as_tuple(outputs, "outputs of the user-provided function", name)[1]
        if strict:
            for place, output in enumerate(self.outputs):
                if not output.requires_grad:
                    raise RuntimeError(
                        f"Output {place} of the user-provided function does not require gradients. The outputs must "
                        "be computed in a differentiable manner from the input when running in strict mode."
                    )

    def vectors(self, v: Any, like: Tensors, single: str) -> list[Tensor | None]:
        """Return the vectors, checked against the tensors whose shapes they must have; all may be left out for one."""
        if v is None:
            if len(like) != 1 or like[0].numel() != 1:
                raise RuntimeError(f"The vector v can only be None if {single} with a single element.")
            return [fg.ones_like(like[0])]
        given = _as_tuple(v, "v", self.name)[1]
        if len(given) != len(like):
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}."
                if len(like) > 1
                else "The given v should contain a single Tensor."
            )
        for place, (vector, tensor) in enumerate(zip(given, like, strict=True)):
            if vector.shape != tensor.shape:
                prefix = f"Entry {place} in v" if len(like) > 1 else "v"
                raise RuntimeError(f"{prefix} has invalid size: should be {tensor.shape} but got {vector.shape}.")
        return [_required(vector, self.create_graph) if self.create_graph else vector for vector in given]

    def derivatives(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Tensor | None], stage: str,
        history: bool = False, batched: bool = False,
    ) -> list[Tensor]:  # fmt: skip
        """Return the pull-back of the vectors; zeros for an input that matters not (in strict mode an error)."""
        pairs = [(output, v) for output, v in zip(outputs, vectors, strict=True) if output.requires_grad]
        found: Sequence[Any] = [None] * len(inputs)
        if pairs:
            roots, given = zip(*pairs, strict=True)
            found = grad(
                roots, inputs, given, allow_unused=True, create_graph=history or self.create_graph, retain_graph=True,
                is_grads_batched=batched,
            )  # fmt: skip
        count = (len(next(v for v in vectors if v is not None)),) if batched else ()
        both = zip(inputs, found, strict=True)
        return [self._or_zeros(x, gradient, place, count, stage) for place, (x, gradient) in enumerate(both)]

    def _or_zeros(self, x: Tensor, gradient: Any, place: int, count: tuple[int, ...], stage: str) -> Tensor:
        if self.strict and gradient is None:
            raise RuntimeError(
                f"{_OF_STAGE.get(stage, stage)} of the user-provided function is independent of input {place}. This "
                "is not allowed in strict mode."
            )
        if self.strict and stage == "jac" and not gradient.requires_grad:
            raise RuntimeError(
                "While computing the hessian, found that the jacobian of the user-provided function with respect to "
                f"input {place} is independent of the input. This is not allowed in strict mode. You should ensure "
                "that your function is twice differentiable and that the jacobian depends on the inputs (this would "
                "be violated by a linear function for example)."
            )
        if self.strict and self.create_graph and not gradient.requires_grad:
            second = "hessian" if stage == "hessian" else "jacobian"
            raise RuntimeError(f"The {second} of the user-provided function is independent of input {place}. This is "
                               "not allowed in strict mode when create_graph=True.")  # fmt: skip
        return fg.zeros((*count, *x.shape), dtype=x.dtype, device=x.device) if gradient is None else gradient

    def forward(self, outputs: Sequence[Tensor], vectors: Sequence[Tensor | None], stage: str) -> list[Tensor]:
        """Return the derivative in the direction of the vectors: the pull-back, which is linear, pulled back itself."""
        duals = [fg.zeros_like(output).requires_grad_() for output in outputs]
        pulled = self.derivatives(outputs, self.inputs, duals, stage, history=True)
        return self.derivatives(pulled, duals, vectors, stage)

    def rows(self, output: Tensor, place: int, vectorize: bool) -> list[Tensor]:
        """Return the Jacobian of one output by each input."""
        size = output.numel()
        shapes = [(*output.shape, *x.shape) for x in self.inputs]
        basis = fg.eye(size, dtype=output.dtype, device=output.device).reshape(size, *output.shape)
        if vectorize and size:
            found = self.derivatives([output], self.inputs, [basis], f"Output {place}", batched=True)
        elif size:
            each = [self.derivatives([output], self.inputs, [row], f"Output {place}") for row in basis]
            found = [fg.stack(list(column)) for column in zip(*each, strict=True)]
        else:
            found = [fg.zeros(0, *x.shape, dtype=x.dtype) for x in self.inputs]
        return [rows.reshape(shape) for rows, shape in zip(found, shapes, strict=True)]

    def as_outputs(self, tensors: Sequence[Tensor]) -> Any:
        """Return tensors in the structure of the outputs."""
        return _given_back(tensors, self.many_outputs, self.create_graph)

    def as_inputs(self, tensors: Sequence[Tensor]) -> Any:
        """Return tensors in the structure of the inputs."""
        return _given_back(tensors, self.many_inputs, self.create_graph)


# What does not depend on an input, by what is computed; of a Jacobian each output is named.
_OF_STAGE = {"vjp": "The output", "jvp": "The output", "jac": "The output", "hessian": "The jacobian"}


def _given_back(tensors: Sequence[Tensor], many: bool, create_graph: bool) -> Any:
    kept = tuple(tensor if create_graph else tensor.detach() for tensor in tensors)
    return kept if many else kept[0]


def _required(x: Tensor, create_graph: bool) -> Tensor:
    """Return an input that requires grad: connected with what it came from where the result can be differentiated."""
    return x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()


def _require_scalar(call: _Call, name: str) -> None:
    if call.many_outputs:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if call.outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
