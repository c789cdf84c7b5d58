"""torch.library: operators of a script's own, by annotations and by schema, with and without a backward."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.library.operators import OPERATORS


@pytest.fixture(autouse=True)
def _operators_as_they_were() -> Iterator[None]:
    before = dict(OPERATORS)
    yield
    OPERATORS.clear()
    OPERATORS.update(before)


def test_a_function_of_numpy_is_an_operator_with_gradient_fake_and_name() -> None:
    @torch.library.custom_op("mine::sine", mutates_args=())
    def sine(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        return torch.from_numpy(np.sin(x.detach().numpy() * scale))

    x = torch.ones(3, requires_grad=True)
    y = sine(x)
    assert y.requires_grad and y.grad_fn.name() == "GeneratedBackwardFor_mine_sine_defaultBackward"
    with pytest.raises(RuntimeError, match=r"through mine\.sine\.default but no autograd formula was registered"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="no fake impl"):
        sine(torch.ones(2, device="meta"))

    @sine.register_fake
    def _(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        return torch.empty_like(x)

    def keep(ctx: object, inputs: tuple[object, ...], output: torch.Tensor) -> None:
        assert ctx.needs_input_grad[:2] == (inputs[0].requires_grad, False)
        x, ctx.scale = inputs
        ctx.save_for_backward(x)

    def backward(ctx: object, grad: torch.Tensor) -> tuple[object, ...]:
        return grad * ctx.saved_tensors[0].mul(ctx.scale).cos() * ctx.scale, None

    sine.register_autograd(backward, setup_context=keep)
    torch.ops.mine.sine(x, scale=2.0).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.full(3, 2 * np.cos(2.0)), rtol=1e-6)
    assert torch.ops.mine.sine.default(torch.zeros(2)).tolist() == [0.0, 0.0]
    packet, overload = torch.ops.mine.sine, torch.ops.mine.sine.default
    assert (str(packet), repr(packet)) == ("mine.sine", "<OpOverloadPacket(op='mine.sine')>")
    assert (str(overload), repr(overload)) == ("mine.sine.default", "<OpOverload(op='mine.sine', overload='default')>")
    assert (overload.name(), overload.__name__, overload.namespace) == ("mine::sine", "sine.default", "mine")
    assert overload.overloadpacket is packet and packet.overloads() == ["default"]
    assert str(overload._schema) == str(packet._schema)
    assert sine(torch.ones(2, device="meta")).shape == (2,)
    assert set(torch.library.opcheck(sine, (x,)).values()) == {"SUCCESS"}
    assert torch.autograd.gradcheck(sine, (torch.rand(2, dtype=torch.float64, requires_grad=True),))
    with pytest.raises(AttributeError, match="'_OpNamespace' 'mine' object has no attribute 'cosine'"):
        torch.ops.mine.cosine  # noqa: B018
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x'"):
        sine(1)


def test_an_operator_gets_its_arguments_as_what_they_are_declared() -> None:
    seen: list[object] = []

    @torch.library.custom_op("mine::see", mutates_args=())
    def see(
        x: torch.Tensor, n: int, f: float, b: bool, s: str, sizes: list[int], other: torch.Tensor | None
    ) -> torch.Tensor:
        seen[:] = [n, f, b, s, sizes, other]
        return x + 1

    see(torch.ones(1), torch.tensor(3), 1, np.True_, "a", (1, 2), None)
    assert repr(seen) == "[3, 1.0, True, 'a', [1, 2], None]"
    right = {"x": torch.ones(1), "n": 1, "f": 1.0, "b": True, "s": "a", "sizes": [1], "other": None}
    declared = "mine::see(Tensor x, SymInt n, float f, bool b, str s, SymInt[] sizes, Tensor? other) -> Tensor"
    wrong = {
        "n": (1.5, "int", "float"), "f": ("a", "float", "str"), "b": ([], "bool", "list"), "s": (2, "str", "int"),
        "sizes": ([None], "List[int]", "list"), "other": (1, "Optional[Tensor]", "int"),
    }  # fmt: skip
    for name, (value, expected, found) in wrong.items():
        with pytest.raises(RuntimeError) as refused:
            see(**{**right, name: value})
        assert str(refused.value).startswith(
            f"mine::see() Expected a value of type '{expected}' for argument '{name}' but instead found type '{found}'."
            f"\nPosition: {list(right).index(name)}\nValue: {value!r}\nDeclaration: {declared}\n"
        )


def test_an_operator_writes_in_place_takes_lists_and_gives_several_results() -> None:
    @torch.library.custom_op("mine::scale_", mutates_args={"x"})
    def scale_(x: torch.Tensor, s: float) -> None:
        x.mul_(s)

    held = torch.ones(2)
    assert scale_(held, 3.0) is None and held.tolist() == [3.0, 3.0]

    @torch.library.custom_op("mine::ends", mutates_args=())
    def ends(xs: list[torch.Tensor], *, by: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
        return xs[0] * by, xs[-1] + by

    ends.register_autograd(
        lambda ctx, first, last: [first * ctx.by, *[None] * (ctx.count - 2), last],
        setup_context=lambda ctx, inputs, keyword_only_inputs, output: vars(ctx).update(
            count=len(inputs[0]), by=keyword_only_inputs["by"]
        ),
    )
    leaves = [torch.ones(2, requires_grad=True) for _ in range(3)]
    first, last = ends(leaves, by=4)
    (first.sum() + 2 * last.sum()).backward()
    assert [None if x.grad is None else x.grad.tolist() for x in leaves] == [[4.0, 4.0], None, [2.0, 2.0]]

    @torch.library.custom_op("mine::same", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    with pytest.raises(RuntimeError, match="must not also be an input to this custom operator"):
        same(held)


def test_a_schema_is_read_from_annotations() -> None:
    def f(x: torch.Tensor, y: int | float | bool, z: torch.Tensor | None = None, *, ys: list[torch.Tensor]) -> None: ...

    infer = torch.library.infer_schema
    assert infer(f, mutates_args=("x",)) == "(Tensor(a0!) x, Scalar y, Tensor? z=None, *, Tensor[] ys) -> ()"
    with pytest.raises(ValueError, match="Parameter x must have a type annotation"):
        infer(lambda x: x, mutates_args=())


def test_a_library_defines_by_schema_and_implements_by_key() -> None:
    lib = torch.library.Library("ours", "DEF")
    lib.define("add(Tensor x, int k=2, *, bool twice=False) -> Tensor")
    lib.impl("add", lambda x, k, twice: x + (2 * k if twice else k), "CPU")
    assert torch.ops.ours.add(torch.zeros(1)).item() == 2.0
    assert torch.ops.ours.add(torch.zeros(1), 5, twice=True).item() == 10.0
    lib.define("square(Tensor x) -> Tensor")
    lib.impl("square", lambda x: x * x, "CompositeImplicitAutograd")
    x = torch.tensor(3.0, requires_grad=True)
    torch.ops.ours.square(x).backward()
    assert x.grad.item() == 6.0
    torch.library.define("ours::neg", "(Tensor x) -> Tensor")
    torch.library.impl("ours::neg", "cpu")(lambda x: -x)
    assert torch.ops.ours.neg(torch.ones(1)).item() == -1.0
    with pytest.raises(OSError, match="compiled for PyTorch"):
        torch.ops.load_library("x.so")


def test_a_namespace_may_begin_with_an_underscore() -> None:
    @torch.library.custom_op("_hidden::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    assert torch.ops._hidden.twice(torch.ones(1)).item() == 2.0
    assert not hasattr(torch.ops, "_nowhere")
