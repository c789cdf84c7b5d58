"""scan, associative_scan and map: loops of which a function says one turn."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad.func.control_flow import associative_scan, map, scan


def test_a_scan_gives_the_last_state_and_what_each_turn_gave() -> None:
    x = torch.arange(6.0).view(2, 3)
    state, results = scan(lambda c, y: (c + y, c * y), torch.zeros(2), x, dim=1)
    assert state.tolist() == [3.0, 12.0] and results.tolist() == [[0.0, 0.0, 2.0], [0.0, 12.0, 35.0]]
    state, results = scan(lambda c, y: (c + y, c * y), torch.zeros(3), x, reverse=True)
    assert state.tolist() == [3.0, 5.0, 7.0] and results.tolist() == [[0.0, 4.0, 10.0], [0.0, 0.0, 0.0]]


def test_a_scan_takes_nested_states_and_has_a_gradient() -> None:
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    state, (double, _) = scan(
        lambda c, pair: ({"sum": c["sum"] + pair[0]}, (pair[0] * 2, pair[1])), {"sum": torch.zeros(3)}, (x, x + 1)
    )
    assert state["sum"].tolist() == [3.0, 5.0, 7.0] and double.shape == (2, 3)
    _, results = scan(lambda c, y: (c + y, c * y), torch.zeros(3), x)
    results.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]


def test_an_associative_scan_combines_from_one_end() -> None:
    x = torch.arange(6.0).view(2, 3)
    assert associative_scan(lambda a, b: a + b, x, 1).tolist() == x.cumsum(1).tolist()
    found = associative_scan(lambda a, b: a * 2 + b, x, 0, reverse=True, combine_mode="generic")
    assert found.tolist() == [[6.0, 9.0, 12.0], [3.0, 4.0, 5.0]]
    with pytest.raises(ValueError, match="Combine_mode must either 'pointwise' or 'generic', but got other"):
        associative_scan(lambda a, b: a, x, 0, combine_mode="other")


def test_a_map_stacks_what_the_function_gives() -> None:
    x = torch.arange(6.0).view(2, 3)
    products, sums = map(lambda row, factor: (row * factor, row.sum()), x, torch.tensor(2.0))
    assert products.tolist() == (x * 2).tolist() and sums.tolist() == [3.0, 12.0]


def test_what_has_no_length_is_refused() -> None:
    with pytest.raises(RuntimeError, match="scan dimension > 0"):
        scan(lambda c, y: (c, y), torch.zeros(3), torch.zeros(0, 3))
    with pytest.raises(RuntimeError, match="must have one length"):
        map(lambda pair: pair[0], (torch.zeros(2), torch.zeros(3)))
