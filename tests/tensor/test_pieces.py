"""Views of which one call gives several: their names in the graph, and that they are not written to with a history."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

import funcgrad as torch

_Pieces = Callable[[torch.Tensor], Sequence[torch.Tensor]]


def _computed() -> torch.Tensor:
    return torch.arange(6.0, requires_grad=True).clone().view(3, 2)


@pytest.mark.parametrize(
    ("pieces", "node"),
    [
        (lambda x: x.unbind(), "UnbindBackward0"),
        (list, "UnbindBackward0"),
        (lambda x: x.split(2), "SplitBackward0"),
        (lambda x: x.chunk(2), "SplitBackward0"),
        (lambda x: x.split([1, 2]), "SplitWithSizesBackward0"),
    ],
)
def test_several_views_of_one_call_have_its_node_and_each_its_place(pieces: _Pieces, node: str) -> None:
    views = pieces(_computed())
    assert [view.grad_fn.name() for view in views] == [node] * len(views)
    assert [view.output_nr for view in views] == list(range(len(views)))
    with pytest.raises(RuntimeError, match=rf"^Output 1 of {node[:-9]} is a view and is being modified inplace\. This"):
        views[1].mul_(2)
    with pytest.raises(RuntimeError, match=r"Output 0 of Select is a view .* function that returns multiple views"):
        views[1][0].zero_()
    with torch.no_grad():
        assert views[1].mul_(2).tolist() == views[1].tolist()


def test_a_row_that_is_gone_over_prints_as_one_of_many() -> None:
    first, *_ = torch.ones(2, 2, requires_grad=True)
    assert repr(first) == "tensor([1., 1.], grad_fn=<UnbindBackward0>)"


def test_without_history_they_are_written_to_until_what_is_written_has_one() -> None:
    x, weight = torch.zeros(2, 2), torch.ones(2, requires_grad=True)
    for row in x:
        row += 1
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(RuntimeError, match="view is the output of a function that returns multiple views"):
        for row in x:
            row.mul_(weight)
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]] and not x.requires_grad
    x[0].mul_(weight)
    assert x.requires_grad


@pytest.mark.parametrize("pieces", [lambda x: x.unsafe_split(2), lambda x: x.unsafe_chunk(2)])
def test_those_that_are_unsafe_are_written_to(pieces: _Pieces) -> None:
    views = pieces(_computed())
    assert views[0].grad_fn.name() == "UnsafeSplitBackward0"
    assert views[0].mul_(2).tolist() == [[0.0, 2.0], [4.0, 6.0]]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (torch.no_grad, r"created in no_grad mode and is being modified inplace with grad mode enabled\. Given"),
        (torch.inference_mode, r"created in inference mode and is being modified inplace in normal mode\. Given"),
    ],
)
def test_a_view_made_where_no_history_is_kept_is_not_written_to_where_it_is(
    mode: Callable[[], torch.no_grad], words: str
) -> None:
    x = _computed()
    with mode():
        view = x[0]
        view.zero_()
    with pytest.raises(RuntimeError, match=words):
        view.add_(1)
    plain = torch.zeros(2, 2)
    with mode():
        row = plain[0]
    assert row.add_(1).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match=words):
        row.add_(torch.ones(2, requires_grad=True))


def test_a_part_of_a_piece_is_written_where_the_numbers_are() -> None:
    whole = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    whole.chunk(2)[1][..., 0] += 1
    whole.split(1, -1)[1][2:].mul_(-1)
    whole.split([1, 3])[0][:] = 0
    assert whole.tolist() == [[0, 0], [3, 4], [6, -6], [8, -8]]
