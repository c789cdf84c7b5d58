"""Nested tensors show what torch's show, train a transformer as torch's do, and compile one step for all lengths."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad import nested, nn
from funcgrad._program.journal import Journal
from tests.nested.running import RECORDED, expressions, shown

TRUTH = json.loads(RECORDED.read_text())
jagged = funcgrad.jagged


@pytest.mark.parametrize("source", expressions())
def test_expression_shows_what_torch_shows(source: str) -> None:
    assert shown(funcgrad, source) == TRUTH[source]


def test_every_record_has_its_expression() -> None:
    assert list(TRUTH) == expressions()


def ragged(*sizes: int, **options: Any) -> nested.tensor.NestedTensor:
    parts = [funcgrad.arange(float(size * 3)).reshape(size, 3) + size for size in sizes]
    return nested.nested_tensor(parts, layout=jagged, **options)


def test_gradient_of_softmax_over_the_ragged_dimension_is_that_of_each_entry() -> None:
    x = ragged(2, 3, requires_grad=True)
    x.softmax(1).pow(2).sum().backward()
    for entry, gradient in zip(x.unbind(), x.grad.unbind(), strict=True):
        alone = entry.detach().requires_grad_()
        alone.softmax(0).pow(2).sum().backward()
        np.testing.assert_allclose(gradient, alone.grad, atol=1e-6)


def test_holes_count_in_no_reduction() -> None:
    part = nested.narrow(funcgrad.arange(24.0).reshape(2, 4, 3), 1, 1, funcgrad.tensor([2, 3]), layout=jagged)
    assert part.sum(1).tolist() == [[9.0, 11.0, 13.0], [54.0, 57.0, 60.0]]
    assert part.sum().item() == 33.0 + 171.0


def test_causal_attention_is_that_of_each_entry() -> None:
    x = ragged(4, 1, 6, requires_grad=True)
    heads = x.unflatten(-1, [1, 3]).transpose(1, 2)
    found = nn.functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
    for entry, result in zip(x.unbind(), found.transpose(1, 2).flatten(-2).unbind(), strict=True):
        alone = nn.functional.scaled_dot_product_attention(*[entry[None, None]] * 3, is_causal=True)
        np.testing.assert_allclose(result.detach(), alone[0, 0].detach(), rtol=1e-5)


def test_values_given_gather_the_gradient() -> None:
    values = funcgrad.ones(5, 3, requires_grad=True)
    x = nested.nested_tensor_from_jagged(values, funcgrad.tensor([0, 2, 5]))
    (x.mean(1) * 6).sum().backward()
    assert values.grad[:, 0].tolist() == [3.0, 3.0, 2.0, 2.0, 2.0]


def test_what_is_written_to_the_values_is_seen() -> None:
    x = ragged(2, 3)
    x.values().zero_()
    x.add_(1)
    assert x.sum().item() == 15.0


def test_one_size_is_equal_to_no_other() -> None:
    x, y = ragged(2, 3), ragged(2, 3)
    assert x.shape[1] == x.shape[1] != y.shape[1]
    assert {x.shape[1]: 1}[x.size(1)] == 1
    with pytest.raises(ValueError, match="relation is indeterminate"):
        x.shape[1] < 5  # noqa: B015
    with pytest.raises(ValueError, match="lengths of several entries"):
        range(x.shape[1])


def test_what_nested_tensors_lack_names_the_function_and_a_way() -> None:
    with pytest.raises(NotImplementedError, match=r"aten\.cumsum.*to_padded_tensor"):
        ragged(1, 2).cumsum(1)
    with pytest.raises(NotImplementedError, match=r"'aten::cumsum'.*NestedTensorCPU"):
        nested.nested_tensor([funcgrad.ones(2)]).cumsum(1)


def test_backward_hooks_leave_results_nested() -> None:
    layer, seen = nn.Linear(3, 2), []
    layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs[0].shape))
    result = layer(ragged(2, 3, requires_grad=True))
    result.sum().backward()
    assert result.is_nested
    assert seen == [(5, 2)]


def test_what_takes_no_nested_tensors_says_so() -> None:
    x = ragged(2, 3)
    with pytest.raises(AssertionError, match="scaled_dot_product_attention"):
        nn.MultiheadAttention(3, 1)(x, x, x)
    with pytest.raises(NotImplementedError, match=r"save values\(\) and offsets\(\)"):
        funcgrad.serialization.save(x, io.BytesIO())


def model(torch: Any) -> Any:
    """Return a transformer over nested sentences: embedding, attention in two heads, a gated layer, classes."""
    layer = torch.nn.Linear
    parts = torch.nn.ModuleDict({
        "embedding": torch.nn.Embedding(20, 16), "norm": torch.nn.LayerNorm(16), "qkv": layer(16, 48),
        "out": layer(16, 16), "gate": layer(16, 32), "up": layer(16, 32), "down": layer(32, 16),
        "rms": torch.nn.RMSNorm(16), "head": layer(16, 20),
    })  # fmt: skip
    for i, parameter in enumerate(parts.parameters()):
        with torch.no_grad():
            numbers = np.random.default_rng(i).normal(size=tuple(parameter.shape)) * 0.2
            parameter.copy_(torch.tensor(numbers.astype(np.float32)))
    return parts


def logits(torch: Any, parts: Any, ids: Any) -> Any:
    """Run the transformer."""
    functional = torch.nn.functional
    x = parts["embedding"](ids)
    weights, biases = parts["qkv"].weight.chunk(3), parts["qkv"].bias.chunk(3)
    normed = parts["norm"](x)
    split = [functional.linear(normed, w, b).unflatten(-1, [2, 8]) for w, b in zip(weights, biases, strict=True)]
    attended = functional.scaled_dot_product_attention(*(part.transpose(1, 2) for part in split))
    x = x + parts["out"](attended.transpose(1, 2).flatten(-2))
    normed = parts["rms"](x)
    return parts["head"](x + parts["down"](functional.silu(parts["gate"](normed)) * parts["up"](normed)))


def losses(torch: Any, steps: int) -> list[float]:
    """Train the transformer on sentences of other lengths each step."""
    parts, found = model(torch), []
    optimizer = torch.optim.AdamW(parts.parameters(), lr=0.01)
    for step in range(steps):
        numbers = np.random.default_rng(100 + step)
        sentences = [torch.tensor(numbers.integers(0, 20, size=n)) for n in numbers.integers(2, 12, size=5)]
        ids = torch.nested.nested_tensor(sentences, layout=torch.jagged)
        loss = torch.nn.functional.cross_entropy(logits(torch, parts, ids).values(), ids.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def test_other_lengths_each_step_compile_a_few_programs() -> None:
    before = len(Journal.compiles)
    found = losses(funcgrad, 12)
    assert found[-1] < found[0]
    assert len(Journal.compiles) - before <= 6


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore")
def test_a_transformer_over_nested_sentences_learns_as_torchs() -> None:
    torch = pytest.importorskip("torch", minversion="2.13")
    np.testing.assert_allclose(losses(funcgrad, 8), losses(torch, 8), rtol=2e-4)
