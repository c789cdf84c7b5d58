"""Classes with a `__torch_function__` are asked for functions, methods, operators and properties, as in torch."""

from __future__ import annotations

import copy
import operator
import pickle
import subprocess
import sys
from typing import Any, ClassVar

import pytest

import funcgrad as torch
from funcgrad import explain, overrides
from funcgrad._tensor import methods
from funcgrad.nn import functional as F
from funcgrad.standing_in import internals


class Logged(torch.Tensor):
    """Writes down what it is asked about."""

    asked: ClassVar[list[Any]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.asked.append(func)
        return super().__torch_function__(func, types, args, kwargs)


class Plain(torch.Tensor):
    """Overrides nothing: what is computed from it keeps its class."""


class Deeper(Plain):
    """A subclass of a subclass."""


class Diagonal:
    """No tensor: a multiple of the identity matrix."""

    def __init__(self, size: int, value: float) -> None:
        self.size, self.value = size, value

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.trace:
            return args[0].size * args[0].value
        return NotImplemented


def plain(*numbers: float) -> Any:
    return torch.tensor(numbers).as_subclass(Plain)


@pytest.mark.parametrize(
    ("call", "asked"),
    [  # torch 2.13.0
        (lambda t, p: t + p, "torch.Tensor.add"),
        (lambda t, p: p + t, "torch.Tensor.add"),
        (lambda t, p: 2 + t, "torch.Tensor.add"),
        (lambda t, p: 2 - t, "torch.Tensor.__rsub__"),
        (lambda t, p: t / 2, "torch.Tensor.div"),
        (lambda t, p: t**2, "torch.Tensor.__pow__"),
        (lambda t, p: t @ p, "torch.Tensor.matmul"),
        (lambda t, p: t < 1, "torch.Tensor.lt"),
        (lambda t, p: t == 1, "torch.Tensor.__eq__"),
        (lambda t, p: operator.iadd(p.clone(), t), "torch.Tensor.add_"),
        (lambda t, p: -t, "torch.Tensor.neg"),
        (lambda t, p: t[0], "torch.Tensor.__getitem__"),
        (lambda t, p: t.shape, "torch.Tensor.shape.__get__"),
        (lambda t, p: t.T, "torch.Tensor.T.__get__"),
        (lambda t, p: t.softmax(0), "torch.Tensor.softmax"),
        (lambda t, p: p.add(t), "torch.Tensor.add"),
        (lambda t, p: torch.add(p, 1, out=t), "torch.add"),
        (lambda t, p: torch.cat([p, t]), "torch.cat"),
        (lambda t, p: torch.where(p > 0, t, p), "torch.where"),
        (lambda t, p: torch.einsum("ij,jk", t, p), "torch.functional.einsum"),
        (lambda t, p: torch.rand_like(t), "torch.rand_like"),
        (lambda t, p: torch.fft.fft(t), "torch.fft.fft"),
        (lambda t, p: F.linear(t, p), "torch.nn.functional.linear"),
        (lambda t, p: F.dropout(t), "torch.nn.functional.dropout"),
        (lambda t, p: torch.nn.ReLU()(t), "torch.nn.functional.relu"),
        (lambda t, p: torch.nn.init.uniform_(t), "torch.nn.init.uniform_"),
        (lambda t, p: len(t), "torch.Tensor.__len__"),
    ],
)
def test_a_subclass_is_asked_by_torchs_names(call: Any, asked: str) -> None:
    given = torch.ones(2, 2).as_subclass(Logged)
    Logged.asked.clear()
    call(given, torch.ones(2, 2))
    assert overrides.resolve_name(Logged.asked[0]) == asked


def test_results_keep_the_subclass() -> None:
    x = plain(1.0, 2.0, 3.0)
    assert type(x * 2) is type(x.sum()) is type(x[0]) is type(x.detach()) is type(torch.relu(x)) is Plain
    assert type(x.max(0).values) is type(x.split(1)[0]) is type(next(iter(x))) is Plain
    assert type(x + torch.ones(3)) is type(torch.ones(3) + x) is Plain
    assert type(x + torch.ones(3).as_subclass(Deeper)) is Deeper
    assert type(x.tolist()) is list
    assert type(x.shape) is torch.Size


def test_a_subclass_in_place_stays_itself() -> None:
    x = y = plain(1.0, 2.0)
    x[0] = 5.0
    y += 1
    y.add_(1)
    assert type(y) is Plain
    assert x.tolist() == [7.0, 4.0]


def test_a_subclass_prints_under_its_own_name() -> None:
    assert repr(plain(1.0, 2.0)) == "Plain([1., 2.])"
    assert repr(torch.ones(2, 2).as_subclass(Plain)) == "Plain([[1., 1.],\n       [1., 1.]])"


def test_gradients_flow_through_a_subclass() -> None:
    w = torch.ones(2, requires_grad=True)
    loss = (w.as_subclass(Plain) * 3).sum()
    assert type(loss) is Plain
    loss.backward()
    assert type(w.grad) is torch.Tensor
    assert w.grad.tolist() == [3.0, 3.0]


def test_under_another_class_a_tensor_is_a_view() -> None:
    leaf = torch.ones(2, requires_grad=True)
    seen = leaf.as_subclass(Plain)
    assert not seen.is_leaf
    assert seen._base is leaf
    assert leaf.is_leaf
    assert str(seen) == "Plain([1., 1.], grad_fn=<AliasBackward0>)"
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        seen.add_(1)
    with torch.no_grad():
        seen.add_(1)
    assert leaf.tolist() == [2.0, 2.0]
    assert type((leaf * 2).as_subclass(Plain).grad_fn.next_functions[0][0]).__name__ == "MulBackward0"  # type: ignore[union-attr]  # it has a history


def test_what_is_computed_of_a_subclass_is_a_view_of_the_plain_result() -> None:
    w = torch.ones(2, requires_grad=True)
    doubled = w.as_subclass(Plain) * 2
    assert str(doubled) == "Plain([2., 2.], grad_fn=<AliasBackward0>)"
    assert type(doubled._base) is torch.Tensor
    with explain.counted() as seen:
        doubled.sum().backward()
        assert w.grad is not None
        assert w.grad.tolist() == [2.0, 2.0]
    assert seen.runs == 1


class WithData(torch.Tensor):
    """A tensor with an attribute of its own."""

    note: str

    @staticmethod
    def __new__(cls: Any, numbers: Any, note: str = "") -> Any:
        return super().__new__(cls, numbers)

    def __init__(self, numbers: Any, note: str = "") -> None:
        self.note = note


def test_a_subclass_has_its_own_constructor_and_attributes() -> None:
    x = WithData([1.0, 2.0], note="here")
    assert x.note == "here"
    assert type(x + 1) is WithData
    assert not hasattr(x + 1, "note")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_keep_class_and_attributes(copied: Any) -> None:
    other = copied(WithData([1.0, 2.0], note="here"))
    assert type(other) is WithData
    assert other.note == "here"
    assert other.tolist() == [1.0, 2.0]


def test_make_subclass_gives_a_leaf() -> None:
    made = torch.Tensor._make_subclass(Plain, torch.zeros(2), True)
    assert type(made) is Plain
    assert made.requires_grad
    assert made.is_leaf


class Named(torch.nn.Parameter):
    """A Parameter of one's own."""


def test_a_subclass_of_parameter_is_registered_and_gives_plain_results() -> None:
    layer = torch.nn.Linear(1, 2)
    layer.bias = Named(torch.ones(2))
    assert [type(p) for p in layer.parameters()] == [torch.nn.Parameter, Named]
    assert type(layer.bias * 2) is type(layer.bias.data) is torch.Tensor
    assert repr(layer.bias) == "Parameter containing:\nParameter(Named([1., 1.], requires_grad=True))"
    assert torch.Tensor.__repr__(layer.bias) == "Parameter(Named([1., 1.], requires_grad=True))"


def test_two_subclasses_that_do_not_know_each_other_meet() -> None:
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Plain' and 'WithData'"):
        plain(1.0) + WithData([1.0])
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.add'; all __torch_function__ handlers"):
        torch.add(plain(1.0), WithData([1.0]))


class Refusing(torch.Tensor):
    """A tensor that answers to nothing."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.sub:
            raise TypeError("not this one")
        return NotImplemented


def test_an_operator_that_cannot_take_the_other_operand_leaves_the_word_to_it() -> None:
    other = object()
    assert (plain(1.0) == other) is False and (other != plain(1.0)) is True
    for left, right, told in (
        (plain(1.0), "a", r"for \+: 'Plain' and 'str'"),
        (plain(1.0), object(), r"for \+: 'Plain' and 'object'"),
        (object(), plain(1.0), r"for \+: 'object' and 'Plain'"),
    ):
        with pytest.raises(TypeError, match=rf"unsupported operand type\(s\) {told}"):
            left + right  # type: ignore[operator]  # what is refused
    refusing = torch.ones(1).as_subclass(Refusing)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for -: 'Refusing' and 'int'"):
        refusing - 1
    with pytest.raises(TypeError, match=r"'<' not supported between instances of 'Refusing' and 'int'"):
        assert refusing < 1
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.Tensor\.neg'"):
        assert -refusing


def test_a_class_that_is_no_tensor_answers() -> None:
    assert torch.trace(Diagonal(3, 2.0)) == 6.0
    with pytest.raises(TypeError, match=r"'torch.mul'.*\n\n  - tensor subclass <class '.*Diagonal'>"):
        torch.mul(Diagonal(3, 2.0), 2)


def test_the_first_object_of_a_foreign_class_is_asked_too() -> None:
    script = (
        "import funcgrad as torch\n"
        "class Own:\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        return func.__name__, len(args), kwargs\n"
        "print(torch.clamp(Own(), max=2), torch.cat([Own()], 1))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "('clamp', 1, {'max': 2}) ('cat', 2, None)\n"


@pytest.mark.parametrize(
    "call",
    [
        "clone(own)", "detach(own)", "zeros_like(own)", "full_like(own, 2)", "where(torch.ones(1) > 0, own, 1)",
        "equal(own, own)", "atleast_1d(own)", "chunk(own, 2)",
    ],
)  # fmt: skip
def test_the_first_object_of_a_foreign_class_is_asked_by_hand_written_functions(call: str) -> None:
    script = (
        "import funcgrad as torch\n"
        "class Own:\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        return func.__name__\n"
        "own = Own()\n"
        f"print(torch.{call})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == call.split("(")[0] + "\n"


@pytest.mark.parametrize("name", ["is_complex", "is_floating_point", "numel", "is_nonzero", "get_device"])
def test_the_first_object_of_a_foreign_class_is_asked_by_what_asks_for_facts(name: str) -> None:
    script = (
        "import funcgrad as torch\n"
        "class Own:\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        return func.__name__\n"
        f"print(torch.{name}(Own()), torch.{name}(torch.ones(1)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == name


def test_a_program_without_such_classes_runs_the_functions_own_code() -> None:
    script = (
        "import funcgrad as torch\n"
        "before = torch.add.__code__\n"
        "torch.nn.Parameter(torch.ones(1)) + 1\n"
        "assert torch.add.__code__ is before\n"
        "class Own(torch.Tensor): pass\n"
        "assert torch.add.__code__ is not before\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


class Watching(overrides.TorchFunctionMode):
    """Writes down every function called within it."""

    def __init__(self, seen: list[str], name: str) -> None:
        self.seen, self.name = seen, name

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(f"{self.name} {overrides.resolve_name(func)}")
        return func(*args, **(kwargs or {}))


def test_modes_see_every_call_the_innermost_first() -> None:
    seen: list[str] = []
    with Watching(seen, "outer"), Watching(seen, "inner"):
        torch.ones(2) * 2
    torch.ones(2)
    assert seen == ["inner torch.ones", "outer torch.ones", "inner torch.Tensor.mul", "outer torch.Tensor.mul"]


def test_a_mode_answers_in_place_of_a_function() -> None:
    class Doubling(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {})) * 2 if func is torch.ones else func(*args, **(kwargs or {}))

    with Doubling():
        assert torch.ones(1).item() == 2.0


def test_switched_off_nobody_is_asked() -> None:
    with internals.DisableTorchFunctionSubclass():
        assert type(plain(1.0) + 1) is torch.Tensor
        assert not overrides.has_torch_function((plain(1.0),))
    assert overrides.has_torch_function((plain(1.0),))
    seen: list[str] = []
    with Watching(seen, "mode"), internals.DisableTorchFunction():
        torch.ones(1)
    assert seen == []


def test_a_function_of_ones_own_asks_by_handle_torch_function() -> None:
    def mine(x: Any, scale: float = 1) -> Any:
        if overrides.has_torch_function_unary(x):
            return overrides.handle_torch_function(mine, (x,), x, scale=scale)
        return x * scale

    assert type(mine(plain(1.0), scale=2)) is Plain
    assert not overrides.has_torch_function_variadic(torch.ones(1), 2)
    assert overrides.wrap_torch_function(lambda x: (x,))(lambda x: x * 2)(torch.ones(1)).item() == 2.0


def test_a_function_that_is_dispatched_again_skips_itself_and_not_what_it_calls() -> None:
    seen: list[str] = []

    class Seen(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return overrides.redispatch_function(func, types, args, kwargs)

    def scaled(x: Any) -> Any:
        if overrides.has_torch_function_unary(x):
            return overrides.handle_torch_function(scaled, (x,), x)
        return x * 2 + 1

    assert scaled(torch.ones(1).as_subclass(Seen)).item() == 3.0
    assert seen == ["scaled", "mul"]


def test_dummies_take_what_the_functions_take() -> None:
    dummies = overrides.get_testing_overrides()
    assert dummies[torch.add](torch.ones(1), 2) == -1
    with pytest.raises(TypeError, match="other"):
        dummies[torch.add](torch.ones(1))


def test_what_overrides_says_of_functions() -> None:
    listed = overrides.get_overridable_functions()[torch.Tensor]
    assert torch.Tensor.add in listed
    assert torch.is_tensor in overrides.get_ignored_functions()
    assert overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__)
    assert overrides.is_tensor_like(Diagonal(1, 1.0))
    assert overrides.resolve_name(torch.nn.functional.relu) == "torch.nn.functional.relu"
    assert overrides.resolve_name(torch.einsum) == "torch.functional.einsum"
    assert overrides.resolve_name(print) is None
    asking = overrides.get_overridable_functions()
    assert torch.relu in asking[torch] and torch.einsum in asking[torch]
    assert torch.einsum in asking[torch.functional] and torch.relu not in asking[torch.functional]
    assert torch.nn.functional.relu in asking[torch.nn.functional]


def test_a_function_that_asks_in_spite_of_the_switch_is_not_called_for_ever() -> None:
    def of_another_library(x: Any) -> Any:
        answer = type(x).__torch_function__(of_another_library, (type(x),), (x,))
        if answer is NotImplemented:
            raise TypeError("no implementation found")
        return answer

    with pytest.raises(TypeError, match="no implementation found"):
        of_another_library(torch.ones(1))


def test_a_property_that_is_looked_up_again_asks_as_the_one_that_it_is() -> None:
    assert methods.find("mT") is methods.find("mT")
    given = torch.ones(2, 2).as_subclass(Logged)
    Logged.asked.clear()
    assert given.mT.shape == (2, 2)
    assert overrides.resolve_name(Logged.asked[0]) == "torch.Tensor.mT.__get__"


def test_a_debugger_may_read_the_variables_of_every_frame() -> None:
    logged = torch.tensor([1.0]).as_subclass(Logged)
    with pytest.raises(TypeError) as caught:
        torch._foreach_mul_([logged], nothing=2.0)
    frames, trace = {}, caught.tb
    while trace is not None:
        frames[trace.tb_frame.f_code.co_name] = trace.tb_frame.f_locals
        trace = trace.tb_next
    assert frames["_first_ask"]["kwargs"] == {"nothing": 2.0}


def test_who_is_asked_gets_no_keywords_where_none_were_given_and_torchs_names() -> None:
    said: list[Any] = []

    class Telling(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            said.append((func.__name__, kwargs))
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.ones(2, 2).as_subclass(Telling)
    _ = x + 1, x[0], x.sum(dim=0), len(x), ~x.bool(), x.dim(), x**2
    x[0] = 1
    assert said == [
        ("add", None), ("__getitem__", None), ("sum", {"dim": 0}), ("__len__", None), ("bool", None),
        ("__invert__", None), ("dim", None), ("__pow__", None), ("__setitem__", None),
    ]  # fmt: skip


class Handed(torch.Tensor):
    """Writes down what it is given."""

    given: ClassVar[list[Any]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.given.append((func.__name__, len(args), kwargs))
        return super().__torch_function__(func, types, args, kwargs)


@pytest.mark.parametrize(
    ("call", "given"),
    [  # torch 2.13.0
        (lambda t: F.relu(t), ("relu", 1, {"inplace": False})),
        (lambda t: F.softmax(t, -1), ("softmax", 1, {"dim": -1, "_stacklevel": 3, "dtype": None})),
        (lambda t: F.dropout(t, 0.0, True), ("dropout", 1, {"p": 0.0, "training": True, "inplace": False})),
        (lambda t: F.layer_norm(t, (2,)), ("layer_norm", 2, {"weight": None, "bias": None, "eps": 1e-05})),
        (lambda t: F.normalize(t), ("normalize", 1, {"p": 2.0, "dim": 1, "eps": 1e-12, "out": None})),
        (lambda t: F.pad(t, (1, 1)), ("pad", 2, {"mode": "constant", "value": None})),
        (lambda t: F.gelu(t), ("gelu", 1, None)),
        (lambda t: F.linear(t, t), ("linear", 2, None)),
        (lambda t: torch.softmax(t, -1), ("softmax", 2, None)),
    ],
)
def test_what_has_a_default_is_handed_on_by_name_where_torchs_function_is_python(call: Any, given: Any) -> None:
    Handed.given.clear()
    call(torch.ones(2, 2).as_subclass(Handed))
    assert Handed.given == [given]


def test_initialisers_hand_on_everything_by_name() -> None:
    seen = {}

    class Seeing(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.setdefault(func.__name__, (args, sorted(kwargs or {})))
            return func(*args, **(kwargs or {}))

    with Seeing():
        torch.nn.init.constant_(torch.ones(2), 3.0)
        torch.nn.init.kaiming_uniform_(torch.ones(2, 2))
    assert seen["constant_"] == ((), ["tensor", "val"])
    assert seen["kaiming_uniform_"] == ((), ["a", "generator", "mode", "nonlinearity", "tensor"])


def test_arguments_that_a_function_does_not_take_are_refused_in_its_words() -> None:
    with pytest.raises(TypeError, match=r"softmax\(\) got an unexpected keyword argument 'bad'"):
        F.softmax(torch.ones(2).as_subclass(Handed), -1, bad=1)
