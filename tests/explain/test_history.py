"""graph, grads, memory, program and anomaly: what hangs together, who gets a gradient, where a NaN began."""

from __future__ import annotations

import re

import pytest

import funcgrad as torch
from funcgrad import explain, nn
from funcgrad.explain.drawing import BOX


def source(line: str) -> str:
    file, _, number = line.rpartition(":")
    assert file == __file__
    with open(file) as text:
        return text.read().splitlines()[int(number) - 1].strip()


def test_the_graph_is_told_with_lines_shapes_and_bytes() -> None:
    model, x = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)), torch.randn(16, 4)
    with explain.lines():
        out = model(x)
        loss = out.pow(2).mean()
    found = explain.graph(loss, model)
    assert set(found.parameters) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert found.iterations == 0
    assert [e.name for e in found.entries[:3]] == ["MeanBackward0", "PowBackward0", "AddmmBackward0"]
    assert source(found.entries[0].line) == "loss = out.pow(2).mean()"
    assert source(found.entries[2].line) == "out = model(x)"
    assert found.entries[1].shapes == "float32[16, 1]"
    # x, the input of the second layer and its weight, and what tanh, pow and mean read again
    assert found.saved_bytes >= 4 * (16 * 4 + 16 * 8 + 8 + 16)
    assert "leaves" in str(found) and "0.weight" in found.dot() and found.svg().count("<rect") == len(found.entries)
    loss.backward()
    assert explain.graph(loss, model).saved_bytes < found.saved_bytes


def test_the_graph_counts_the_iterations_that_hang_on_it() -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.1)
    total = torch.zeros(())
    for _ in range(4):
        optimizer.zero_grad()
        loss = (w * 2).sum()
        loss.backward()
        optimizer.step()
        total = total + loss
    assert explain.graph(loss).iterations == 0
    assert explain.graph(total).iterations == 4
    assert "hangs on 4 past iterations" in str(explain.graph(total))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.inner(x)


def test_a_large_picture_is_folded_into_calls_of_modules() -> None:
    model, x = nn.Sequential(*[Block() for _ in range(12)], nn.Linear(4, 2)), torch.randn(3, 4)
    with explain.lines():
        loss = model(x).sum()
    found = explain.graph(loss, model)
    assert len(found.entries) == 1 + 12 * 8 + 3
    assert found.entries[1].module == "12" and " in 11.inner.1 " in str(found)
    whole, top = found.folded(1), found.folded(2)
    assert [e.name for e in whole] == ["SumBackward0", "Sequential"] and whole[1].folded == 99 and whole[1].inputs == ()
    assert [e.name for e in top[:3]] == ["SumBackward0", "12 Linear", "11 Block"]
    assert top[2].folded == 8 and top[2].inputs == (top[3].number,)  # its sum and three ops, and four parameters
    assert sum(e.saved_bytes for e in top) == sum(e.saved_bytes for e in found.entries)
    shown = found.folded(3)  # each block's sum stands alone beside its inner part
    names = [e.name for e in shown]
    assert len(names) == 4 + 24 and {"AddmmBackward0", "12.bias", "AddBackward0", "11.inner Sequential"} <= set(names)
    for picture in (found.svg(), found.dot()):
        assert "100 nodes, folded into calls of modules (svg(depth=3))" in picture and "11.inner Sequential" in picture
    assert found.svg().count("<rect") == 28 and found.svg(depth=2).count("<rect") == 14
    assert found.dot(depth=2).count("->") == 13


def test_a_line_past_several_rows_runs_between_the_columns() -> None:
    total = torch.ones(2, requires_grad=True).sin()
    for weight in [torch.ones(2, requires_grad=True) for _ in range(6)]:
        total = total + (total * weight).sin().cos()
    drawn = explain.graph(total).svg()
    boxes = {int(left) for left in re.findall(r'<rect x="(\d+)"', drawn)}
    curves = re.findall(r'<path d="M(\d+) \d+ C(\d+) \d+ \d+ \d+ (\d+) \d+"', drawn)
    inside_a_column = [(int(start), int(bend)) for start, bend, end in curves if start == end]
    assert len(inside_a_column) >= 5
    for start, bend in inside_a_column:
        reached = start + (bend - start) * 3 / 4  # of a cubic curve whose two middle points lie at `bend`
        assert start - BOX[0] in boxes and not any(start - BOX[0] < left <= reached for left in boxes)


def test_a_large_picture_without_known_calls_is_cut_with_a_note() -> None:
    x = torch.ones(2, requires_grad=True)
    total = x
    for _ in range(100):
        total = total.sin()
    picture = explain.graph(total).svg()
    assert picture.count("<rect") == 40
    assert "the newest 40 of 101 nodes; made inside explain.lines()" in picture


def test_a_call_that_raised_holds_nothing() -> None:
    class Careful(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.shape[0] > 1:
                raise ValueError("too many")
            return x * 2

    model, x = nn.Sequential(Careful()), torch.ones(1, requires_grad=True)
    with explain.lines():
        with pytest.raises(ValueError, match="too many"):
            model(torch.ones(2))
        loss = model(x).sum()
    assert [e.module for e in explain.graph(loss, model).entries] == ["", "0", ""]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.frozen, self.unused = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False), nn.Linear(3, 1)
        self.cut = nn.Linear(3, 3, bias=False)
        self.frozen.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.first(self.first(self.frozen(x))) + self.cut(x).detach()


def test_grads_says_why() -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.frozen.parameters(), 0.1)
    explain.flush()
    rows = {row.name: row for row in explain.grads(model, model(torch.randn(2, 3)).sum(), optimizer)}
    assert {name: row.status for name, row in rows.items()} == {
        "first.weight": "reached", "frozen.weight": "frozen", "unused.weight": "unused", "unused.bias": "unused",
        "cut.weight": "detached",
    }  # fmt: skip
    assert "in 2 places" in rows["first.weight"].reason
    assert "in no group of the optimizer" in rows["first.weight"].reason
    assert "no group" not in rows["frozen.weight"].reason
    model(torch.randn(2, 3)).sum().backward()
    rows = {row.name: row for row in explain.grads(model, model(torch.randn(2, 3)).sum())}
    assert "adds to the gradient that is there already" in rows["first.weight"].reason


def test_memory_says_who_holds_what() -> None:
    model = nn.Linear(300, 200)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 300)).sum().backward()
    optimizer.step()
    explain.flush()
    found = {row.holder: row for row in explain.memory()}
    size = 4 * 300 * 200
    assert found["parameters"].nbytes >= size and found["gradients"].nbytes >= size
    assert found["optimizer states"].nbytes >= 2 * size
    assert re.search(r"parameters .* bytes", str(explain.memory()))


def test_the_last_program_is_shown() -> None:
    x = torch.ones(3, 5)
    (x.sin() @ x.T).tolist()
    found = explain.program()
    assert any("sin(" in line and __file__ in line for line in found.instructions)
    assert "sin" in str(found.jaxpr) and "stablehlo.sine" in found.hlo


def test_a_nan_of_a_fused_step_is_traced_to_its_forward_line() -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], 1.0)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        inside = w - 0.5
        loss = inside.log().sum()
        loss.backward()
        optimizer.step()
        return loss

    with pytest.raises(explain.AnomalyError) as caught, explain.anomaly():
        for _ in range(5):
            step()
    assert source(caught.value.line) == "loss = inside.log().sum()"
    assert caught.value.op == "log" and "a NaN" in str(caught.value)


def test_a_nan_that_only_the_backward_makes_is_traced_to_both_lines() -> None:
    w = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.1)
    with pytest.raises(explain.AnomalyError) as caught, explain.anomaly():
        root = (w * w).sqrt()
        loss = root.sum()
        loss.backward()
        optimizer.step()
    assert source(caught.value.line) == "root = (w * w).sqrt()"
    assert "gradient of sqrt" in str(caught.value) and f"{__file__}:" in str(caught.value)


def test_watching_for_anomalies_changes_no_numbers_and_ends() -> None:
    w = torch.ones(3, requires_grad=True)
    with explain.anomaly():
        (w * 2).sum().backward()
        assert w.grad is not None and w.grad.tolist() == [2.0, 2.0, 2.0]
    assert torch.tensor([-1.0]).log().isnan().all()
