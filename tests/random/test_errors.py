"""What torch refuses is refused, with torch's class of error and the phrase that users search for."""

from __future__ import annotations

import warnings

import pytest

from tests.random.namespace import torch as torch_of

torch = torch_of()
F = torch.nn.functional
BYTES, LONGS = "torch.zeros(3, dtype=torch.uint8)", "torch.zeros(3, dtype=torch.int64)"

REFUSED = {
    "torch.zeros(3).uniform_(2, 1)": (RuntimeError, "expects to return a [from, to) range, but found from=2 > to=1"),
    "torch.zeros(3).uniform_(0, float('inf'))": (RuntimeError, "to is out of bounds for float"),
    "torch.zeros(3).normal_(0, -1)": (RuntimeError, "normal expects std >= 0.0, but found std -1"),
    "torch.zeros(3).exponential_(-1)": (RuntimeError, "exponential_ expects lambda > 0.0, but found lambda=-1"),
    "torch.zeros(3).cauchy_(0, -1)": (RuntimeError, "cauchy_ expects sigma > 0.0, but found sigma=-1"),
    "torch.zeros(3).log_normal_(0, 0)": (RuntimeError, "log_normal_ expects std > 0.0, but found std=0"),
    "torch.zeros(3).geometric_(1)": (RuntimeError, "geometric_ expects p to be in (0, 1), but got p=1"),
    "torch.zeros(3).bernoulli_(1.5)": (RuntimeError, "bernoulli_ expects p to be in [0, 1], but got p=1.5"),
    "torch.bernoulli(torch.tensor([0.5, 2.0]))": (RuntimeError, "Expected p_in >= 0 && p_in <= 1 to be true"),
    "torch.bernoulli(torch.tensor([1, 0]))": (NotImplementedError, "not implemented for 'Long'"),
    "torch.zeros(3).random_(5, 5)": (RuntimeError, "expects 'from' to be less than 'to', but got from=5 >= to=5"),
    "torch.zeros(3).random_(0)": (RuntimeError, "random_ expects 'from' to be less than 'to', but got from=0 >= to=0"),
    f"{BYTES}.random_(0, 300)": (RuntimeError, "to - 1 is out of bounds for unsigned char"),
    f"{BYTES}.random_(-1, 30)": (RuntimeError, "from is out of bounds for unsigned char"),
    "torch.zeros(3, dtype=torch.bool).random_(0, 3)": (RuntimeError, "to - 1 is out of bounds for bool"),
    "torch.zeros(3, dtype=torch.float16).random_(0, 2**25)": (RuntimeError, "to - 1 is out of bounds for c10::Half"),
    f"{LONGS}.uniform_()": (NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'"),
    f"{LONGS}.normal_()": (NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Long'"),
    f"{LONGS}.exponential_()": (RuntimeError, "Exponential distribution is a continuous probability distribution"),
    f"{LONGS}.cauchy_()": (RuntimeError, "dtype must be a floating point but you specified long int"),
    "torch.rand(3, dtype=torch.int64)": (NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'"),
    "torch.rand(-1)": (RuntimeError, "Trying to create tensor with negative dimension -1: [-1]"),
    "torch.rand()": (TypeError, "rand() received an invalid combination of arguments"),
    "torch.rand(2.0)": (TypeError, "argument 'size' (position 1) must be tuple of ints, not float"),
    "torch.randint(5, 3)": (TypeError, "argument 'size' (position 2) must be tuple of ints, not int"),
    "torch.randint(1, 2, 3, (4,))": (TypeError, "invalid combination of arguments"),
    "torch.randint(3.5, (2,))": (TypeError, "must be int, not float"),
    "torch.randint(2**63, (2,))": (ValueError, "Overflow when unpacking long long"),
    "torch.randint(3, (2,), requires_grad=True)": (RuntimeError, "Only Tensors of floating point and complex dtype"),
    "torch.randperm(-1)": (RuntimeError, "Trying to create tensor with negative dimension -1: [-1]"),
    "torch.randperm(5.0)": (TypeError, "argument 'n' (position 1) must be int, not float"),
    "torch.randperm(3000, dtype=torch.float16)": (RuntimeError, "n cannot be greater than 2049 for Half type"),
    "torch.normal(1.0, 2.0)": (TypeError, "normal() received an invalid combination of arguments"),
    "torch.normal(torch.zeros(2), torch.ones(3))": (RuntimeError, "The size of tensor a (2) must match the size"),
    "torch.normal(torch.zeros(2), torch.tensor([-1.0, 1.0]))": (RuntimeError, "expects all elements of std >= 0.0"),
    "torch.multinomial(torch.ones(2), 3)": (RuntimeError, "cannot sample n_sample > prob_dist.size(-1) samples"),
    "torch.multinomial(torch.zeros(2), 1)": (RuntimeError, "invalid multinomial distribution (sum of"),
    "torch.multinomial(torch.tensor([-1.0, 0.0]), 1)": (RuntimeError, "probability tensor contains either `inf`"),
    "torch.multinomial(torch.ones(2), 0)": (RuntimeError, "cannot sample n_sample <= 0 samples"),
    "torch.multinomial(torch.tensor([1, 1]), 1)": (RuntimeError, "multinomial only supports floating-point dtypes"),
    "torch.multinomial(torch.ones(2, 2, 2), 1)": (RuntimeError, "prob_dist must be 1 or 2 dim"),
    "torch.poisson(torch.tensor([-1.0]))": (RuntimeError, "invalid Poisson rate, expected rate to be non-negative"),
    "torch.binomial(torch.tensor([3]), torch.tensor([0.5]))": (ValueError, "binomial only supports floating-point"),
    "F.dropout(torch.ones(3), 1.5)": (ValueError, "dropout probability has to be between 0 and 1, but got 1.5"),
    "F.dropout(torch.ones(3, dtype=torch.int64))": (RuntimeError, "result type Float can't be cast to the desired"),
    "F.dropout1d(torch.ones(3))": (RuntimeError, "dropout1d: Expected 2D or 3D input, but received a 1D input"),
    "F.dropout2d(torch.ones(3))": (RuntimeError, "Feature dropout requires at least 2 dimensions in the input"),
    "F.rrelu(torch.ones(3), 0.5, 0.1, True)": (RuntimeError, "Lower bound should be less than or equal to"),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_what_torch_refuses_is_refused(call: str) -> None:
    kind, phrase = REFUSED[call]
    with warnings.catch_warnings(), pytest.raises(kind) as caught:
        warnings.simplefilter("ignore")
        eval(call)
    assert phrase in str(caught.value)
    assert type(caught.value) is kind


def test_floats_that_skip_integers_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="to - 1 is out of bounds"):
        torch.zeros(3).random_(0, 2**25)


def test_the_cpu_generator_has_no_offset() -> None:
    for call in (torch.Generator().get_offset, lambda: torch.Generator().set_offset(4)):
        with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
            call()
