"""flex_attention: functions see one pair at a time, tables get gradients, masks tell their blocks."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad.nn.attention.flex_attention import BlockMask, create_block_mask, create_mask, flex_attention, or_masks

BATCHES, HEADS, LENGTH = 2, 3, 8
Places = dict[str, Any]


@pytest.fixture
def given() -> Places:
    torch.manual_seed(0)
    query, key, value = (torch.randn(BATCHES, HEADS, LENGTH, 4) for _ in range(3))
    tables = {
        "bias": torch.randn(BATCHES, HEADS),
        "relative": torch.randn(2 * LENGTH - 1),
        "relative_by_head": torch.randn(HEADS, 2 * LENGTH - 1),
        "document": torch.tensor([[0, 0, 0, 1, 1, 2, 2, 2], [0, 1, 1, 1, 1, 1, 2, 2]]),
        "pairs": torch.randn(LENGTH, LENGTH),
    }
    return {"inputs": (query, key, value), **tables}


def score_mods(given: Places) -> dict[str, Any]:
    bias, relative, by_head = given["bias"], given["relative"], given["relative_by_head"]
    document, pairs = given["document"], given["pairs"]
    return {
        "chained": lambda s, b, h, i, j: s + bias[b][h],
        "relative": lambda s, b, h, i, j: s + relative[i - j + LENGTH - 1],
        "by_head": lambda s, b, h, i, j: s + by_head[h][i - j + LENGTH - 1],
        "document": lambda s, b, h, i, j: torch.where(document[b][i] == document[b][j], s, -float("inf")),
        "dot": lambda s, b, h, i, j: s + torch.dot(pairs[i], pairs[j]),
        "even": lambda s, b, h, i, j: torch.where(i % 2 == j // 2 % 2, s + b * h, s - 1),
        "dimensions": lambda s, b, h, i, j: s + s.dim() + i.dim(),
    }


@pytest.mark.parametrize(
    ("name", "result", "lse"),
    [
        ("chained", [0.46506, 0.24412, -0.07382, -0.61871, 0.42653, -0.11717], 80.1113),
        ("relative", [0.24716, 0.11964, 0.29658, -0.54571, 0.68716, -0.18756], 124.8375),
        ("by_head", [0.39843, 0.44235, -0.11528, -1.16077, 0.29466, -0.20531], 114.7801),
        ("document", [0.96966, 0.11291, -0.17888, -0.21473, -0.07344, -0.0457], 62.308),
        ("dot", [0.34924, -1.00409, 1.59259, 1.52963, -0.27526, -0.14805], 402.307),
        ("even", [0.58501, -0.03755, -0.31872, -0.80015, -0.01354, -0.09179], 115.5933),
        ("dimensions", [0.46506, 0.24412, -0.07382, -0.61871, 0.42653, -0.11717], 115.376),
    ],
)
def test_a_function_of_scores_sees_one_pair(given: Places, name: str, result: list[float], lse: float) -> None:
    found, logarithms = flex_attention(*given["inputs"], score_mod=score_mods(given)[name], return_lse=True)
    assert found.reshape(-1)[::34].tolist() == pytest.approx(result, abs=2e-5)
    assert logarithms.sum().item() == pytest.approx(lse, abs=2e-3)


def test_tables_that_functions_read_get_gradients(given: Places) -> None:
    query, key, value = (x.requires_grad_() for x in given["inputs"])
    table = given["relative_by_head"].requires_grad_()
    flex_attention(query, key, value, score_mod=score_mods(given)["by_head"]).square().sum().backward()
    assert table.grad[0, :5].tolist() == pytest.approx([1.3714, -0.0373, 3.3499, -0.4593, -2.5523], abs=2e-4)
    assert query.grad.abs().sum().item() == pytest.approx(106.292, abs=2e-3)


def test_masks_tell_their_blocks(given: Places) -> None:
    document = given["document"]
    mask = create_block_mask(
        lambda b, h, i, j: document[b][i] == document[b][j], BATCHES, HEADS, LENGTH, LENGTH, BLOCK_SIZE=2
    )
    assert (mask.shape, mask.BLOCK_SIZE, mask.sparsity()) == ((2, 3, 8, 8), (2, 2), 37.5)
    assert mask.kv_num_blocks[0, 0].tolist() == [1, 3, 3, 1]
    assert mask.kv_indices[0, 0].tolist() == [[1, 0, 2, 3], [0, 1, 2, 3], [1, 2, 3, 0], [2, 0, 1, 3]]
    assert mask.full_kv_num_blocks is not None and mask.full_kv_num_blocks[0, 0].tolist() == [1, 0, 0, 1]
    assert str(mask).splitlines()[:6] == [
        "BlockMask(shape=(2, 3, 8, 8), sparsity=37.50%, ", "(0, 0)", "████    ", "██████  ", "  ██████", "    ████",
    ]  # fmt: skip
    found = flex_attention(*given["inputs"], block_mask=mask)
    assert found.sum().item() == pytest.approx(21.4735, abs=1e-4)


def test_a_mask_of_lists_attends_to_listed_blocks_only(given: Places) -> None:
    numbers = torch.tensor([[[1, 2]]], dtype=torch.int32)
    lists = torch.tensor([[[[1, 0], [0, 1]]]], dtype=torch.int32)
    mask = BlockMask.from_kv_blocks(numbers, lists, BLOCK_SIZE=4)
    assert mask.to_dense().tolist() == [[[[0, 1], [1, 1]]]]
    listed = create_mask(or_masks(lambda b, h, i, j: i >= 4, lambda b, h, i, j: j >= 4), None, None, LENGTH, LENGTH)
    expected = torch.nn.functional.scaled_dot_product_attention(*given["inputs"], attn_mask=listed)
    assert torch.allclose(flex_attention(*given["inputs"], block_mask=mask), expected, atol=1e-6)


def test_masks_that_do_not_fit_are_refused(given: Places) -> None:
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 16, 16, BLOCK_SIZE=2)
    with pytest.raises(ValueError, match=r"created for block_mask.shape=\(1, 1, 16, 16\) but got q_len=8 and kv_len=8"):
        flex_attention(*given["inputs"], block_mask=mask)
    with pytest.raises(RuntimeError, match="Cannot use mask_mod from a sliced BlockMask"):
        flex_attention(*given["inputs"], block_mask=mask[:, :, :4])
    causal = torch.nn.functional.scaled_dot_product_attention(*given["inputs"], is_causal=True)
    fitting = flex_attention(*given["inputs"], block_mask=mask._adjust(LENGTH, LENGTH))
    assert torch.allclose(fitting, causal, atol=1e-6)
    with pytest.raises(ValueError, match=r"same number of heads but got Hq=3 and Hkv=1\. Try setting enable_gqa=True"):
        query, key, value = given["inputs"]
        flex_attention(query, key[:, :1], value[:, :1])
    with pytest.raises(AssertionError, match="Expected 4 or 5 positional args, got 1"):
        create_block_mask(lambda a: a, None, None, 4, 4)  # pyright: ignore[reportArgumentType]
