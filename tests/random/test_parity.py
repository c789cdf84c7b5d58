"""Any calls in any order, side by side with the installed torch: the same numbers, and the same state at the end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad._tensor.interop import to_host
from tests.random.namespace import torch as torch_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.parity
ours = torch_of()

CALLS = (
    "torch.rand({n})", "torch.rand({n}, dtype=torch.float64)", "torch.rand({n}, dtype=torch.complex64)",
    "torch.randn({n})", "torch.randn({n}, dtype=torch.float64)", "torch.randn({n}, dtype=torch.float16)",
    "torch.zeros({n}).uniform_(-{a}, {a})", "torch.zeros({n}, dtype=torch.float16).uniform_(-{a}, {a})",
    "torch.zeros({n}, dtype=torch.float64).uniform_(-{a}, {a})", "torch.zeros({n}).normal_({a}, {a})",
    "torch.randint({k}, ({n},))", "torch.randint(-{k}, {k}, ({n},))", "torch.zeros({n}, dtype=torch.int64).random_()",
    "torch.zeros({n}).random_()", "torch.randperm({n})", "torch.randperm({n} * 40, dtype=torch.int32)",
    "torch.zeros({n}).bernoulli_({a} / 4)", "torch.bernoulli(torch.full(({n},), {a} / 4))",
    "torch.zeros({n}).exponential_({a})", "torch.zeros({n}).cauchy_(0, {a})", "torch.zeros({n}).log_normal_(0, {a})",
    "torch.zeros({n}).geometric_({a} / 4)", "torch.poisson(torch.full(({n},), {a} * 8))",
    "torch.binomial(torch.full(({n},), 40.0), torch.full(({n},), {a} / 4))",
    "torch._standard_gamma(torch.full(({n},), {a}))", "torch.multinomial(torch.ones({n} + 1), {n} + 1)",
    "torch.multinomial(torch.ones({n} + 1), 2 * {n} + 1, True)", "torch.normal(torch.zeros({n}), torch.ones({n}))",
    "torch.nn.functional.dropout(torch.ones({n}), {a} / 4)",
    "torch.nn.functional.rrelu(-torch.ones({n}), training=True)",
)  # fmt: skip
ROUNDED = ("float64", "_standard_gamma", "normal_(", "normal(", "randn", "rrelu")

call = st.tuples(
    st.sampled_from(CALLS), st.integers(0, 60), st.floats(0.01, 3.9), st.sampled_from((2, 10, 2**28 - 1, 2**28, 2**40))
)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(-(2**63), 2**64 - 1), calls=st.lists(call, min_size=1, max_size=8))
def test_any_calls_in_any_order_draw_what_torch_draws(seed: int, calls: list[tuple[str, int, float, int]]) -> None:
    torch.manual_seed(seed)
    ours.manual_seed(seed)
    for template, n, a, k in calls:
        script = template.format(n=n, a=a, k=k)
        expected = eval(script, {"torch": torch}).numpy()
        drawn = to_host(eval(script, {"torch": ours}))
        assert drawn.dtype == expected.dtype, script
        tolerance = 5e-7 if any(word in script for word in ROUNDED) else 0
        np.testing.assert_allclose(drawn, expected, rtol=tolerance, atol=tolerance, err_msg=script)
    assert to_host(ours.get_rng_state()).tobytes()[:-40] == torch.get_rng_state().numpy().tobytes()[:-40]
    np.testing.assert_allclose(to_host(ours.randn(1)), torch.randn(1), atol=1e-6)


def test_states_are_exchanged_with_torch() -> None:
    torch.manual_seed(3)
    torch.randn(5)
    ours.set_rng_state(ours.tensor(torch.get_rng_state().tolist(), dtype=ours.uint8))
    np.testing.assert_array_equal(to_host(ours.randn(5)), torch.randn(5).numpy())
    torch.set_rng_state(torch.tensor(to_host(ours.get_rng_state()).tolist(), dtype=torch.uint8))
    np.testing.assert_array_equal(to_host(ours.rand(5)), torch.rand(5).numpy())


def test_many_numbers_are_torchs_in_every_bit() -> None:
    for count in (10_001, 100_000, 1_000_003):
        torch.manual_seed(count)
        ours.manual_seed(count)
        for word in ("rand({0})", "randn({0})", "zeros({0}).normal_(0.3, 1.7)", "randperm({0})"):
            script = f"torch.{word}"
            expected = eval(script.format(count), {"torch": torch}).numpy()
            np.testing.assert_array_equal(to_host(eval(script.format(count), {"torch": ours})), expected)
