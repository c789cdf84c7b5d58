"""A mask of attention told by blocks: for each block of queries, which blocks of keys it reads, wholly or in part."""

from __future__ import annotations

import itertools
import math
from typing import Any

from funcgrad._base.dtypes import bool_ as bool_dtype
from funcgrad._base.dtypes import int32
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn.attention.mask_mods import MaskMod, create_mask, noop_mask, over_pairs, positional_arguments

DEFAULT_BLOCK_SIZE = 128
_LISTS = (
    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
    "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices",
)  # fmt: skip
_SLICED = (
    "Cannot use mask_mod from a sliced BlockMask. When you slice a BlockMask using [], the mask_mod attribute is "
    "reset. You must set it from the original BlockMask's mask_mod: sliced_mask.mask_mod = base_mask.mask_mod"
)


def sliced_mask_mod(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Refuse: a part of a mask does not know where it lies in the whole. RuntimeError: always."""
    raise RuntimeError(_SLICED)


class BlockMask:
    """Which pairs attend to each other: in full blocks all, in the other listed blocks those that `mask_mod` chooses.

    Shape: kv_num_blocks (B, H, query blocks), kv_indices (B, H, query blocks, key blocks), of which as many count as
    kv_num_blocks says; full_* likewise; q_* the same with queries and keys exchanged. Made by `create_block_mask`.
    """

    # Orders of writing gradients: only kernels on a GPU, which are not used here, read them.
    dq_write_order = dq_write_order_full = dq_kv_order = dq_kv_order_spt = None

    def __init__(
        self, seq_lengths: tuple[int, int], kv_num_blocks: Tensor, kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None, full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None, q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None, full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int], mask_mod: MaskMod,
    ) -> None:  # fmt: skip
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls, kv_num_blocks: Tensor, kv_indices: Tensor, full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None, BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK_SIZE,
        mask_mod: MaskMod | None = None, seq_lengths: tuple[int, int] | None = None, compute_q_blocks: bool = True,
    ) -> BlockMask:  # fmt: skip
        """Return the mask of lists of key blocks, one list for each block of queries.

        RuntimeError: kv_indices has fewer than two dimensions. AssertionError: one half of the full lists is missing.
        """
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        lengths = seq_lengths or (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        q_lists = _turned(kv_num_blocks, kv_indices) if compute_q_blocks else (None, None)
        full_q_lists = _turned(full_kv_num_blocks, full_kv_indices) if compute_q_blocks else (None, None)
        return cls(
            lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *q_lists, *full_q_lists,
            size, mask_mod or noop_mask,
        )  # fmt: skip

    @property
    def shape(self) -> tuple[int, ...]:
        """Return (B, H, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """Return the number of pairs."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """Return the percentage of pairs that lie in no listed block; below 0 where blocks are larger than the mask."""
        listed = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            listed += int(self.full_kv_num_blocks.sum())
        return 100 * (1 - listed * math.prod(self.BLOCK_SIZE) / self.numel())

    def to_dense(self) -> Tensor:
        """Return 1 for each listed block. Shape: (B, H, query blocks, key blocks)."""
        dense = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return dense
        return dense | _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def pairs(self, shape: tuple[int, ...], device: Any) -> Tensor:
        """Return which pairs attend, by the lists and by `mask_mod`. Shape: (B, H, L, S), or 1 for B and H."""
        listed = self._of_pairs(_dense(self.kv_num_blocks, self.kv_indices), shape)
        chosen = listed & over_pairs(self.mask_mod, shape, device)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return chosen
        return chosen | self._of_pairs(_dense(self.full_kv_num_blocks, self.full_kv_indices), shape)

    def _of_pairs(self, dense: Tensor, shape: tuple[int, ...]) -> Tensor:
        query_size, key_size = self.BLOCK_SIZE
        rows = dense.to(bool_dtype).repeat_interleave(min(query_size, shape[-2]), -2)[..., : shape[-2], :]
        return rows.repeat_interleave(min(key_size, shape[-1]), -1)[..., : shape[-1]]

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Return all that the mask consists of; `flatten`: with lengths and sizes one by one."""
        lengths, sizes = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        orders = (self.dq_write_order, self.dq_write_order_full, self.dq_kv_order, self.dq_kv_order_spt)
        return (*lengths, *(getattr(self, name) for name in _LISTS), *orders, *sizes, self.mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        """Return the mask of some batches, heads and blocks of queries; its `mask_mod` is to be set anew."""
        given = index if isinstance(index, tuple) else (index,)
        sizes = self.kv_num_blocks.shape[:3]
        padded = (*given, slice(None), slice(None), slice(None))[:3]
        place = tuple(_kept(i, size) for i, size in zip(padded, sizes, strict=True))
        full_counts, full = self.full_kv_num_blocks, self.full_kv_indices
        return BlockMask.from_kv_blocks(
            self.kv_num_blocks[place], self.kv_indices[place],
            None if full_counts is None else full_counts[place], None if full is None else full[place],
            self.BLOCK_SIZE, sliced_mask_mod, self.seq_lengths, self.q_indices is not None,
        )  # fmt: skip

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """Return the mask's upper left part, for so many queries and keys."""
        rows, columns = -(-new_q_len // self.BLOCK_SIZE[0]), -(-new_kv_len // self.BLOCK_SIZE[1])
        lists = _ordered(_dense(self.kv_num_blocks, self.kv_indices)[..., :rows, :columns])
        full: tuple[Tensor | None, Tensor | None] = (None, None)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            full = _ordered(_dense(self.full_kv_num_blocks, self.full_kv_indices)[..., :rows, :columns])
        lengths, has_queries = (new_q_len, new_kv_len), self.q_indices is not None
        return self.from_kv_blocks(*lists, *full, self.BLOCK_SIZE, self.mask_mod, lengths, has_queries)

    def to(self, device: Any) -> BlockMask:
        """Return the mask with its lists on a device; what `mask_mod` reads stays where it is."""
        lists: dict[str, Any] = {name: getattr(self, name) for name in _LISTS}
        moved: dict[str, Any] = {
            name: None if numbers is None else numbers.to(device) for name, numbers in lists.items()
        }
        return BlockMask(self.seq_lengths, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod, **moved)

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """Return a drawing of the listed blocks for the first `limit` heads, at most `grid_size` rows and columns."""
        dense = self.to_dense()
        rows, columns = dense.shape[-2:]
        wanted = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        steps = [max(1, -(-size // most)) for size, most in zip((rows, columns), wanted, strict=True)]
        drawings = []
        for place in itertools.product(*map(range, dense.shape[:-2])):
            if len(drawings) == limit:
                drawings.append("...\nTo print out more, set BlockMask.to_string(limit=N)")
                drawings.append("You can also index (BlockMask[batch, head]) to choose a specific batch or head")
                break
            drawings.append(f"{place}\n{_drawn(dense[place].tolist(), steps)}")
        return "\n".join(drawings)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        shapes = {name: None if getattr(self, name) is None else getattr(self, name).shape for name in _LISTS}
        told = {
            **shapes, "BLOCK_SIZE": self.BLOCK_SIZE, "shape": self.shape, "sparsity": f"{self.sparsity():.2f}%",
            "mask_mod": getattr(self.mask_mod, "__name__", self.mask_mod),
        }  # fmt: skip
        return "BlockMask(\n" + ",\n".join(f"    {name}={value}" for name, value in told.items()) + "\n)"


def create_block_mask(
    mask_mod: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK_SIZE, _compile: bool = False, separate_full_blocks: bool = True,
) -> BlockMask:  # fmt: skip
    """Return the mask of a function (b, h, q_idx, kv_idx) -> bool, for so many batches, heads, queries and keys.

    separate_full_blocks: list blocks of which all pairs attend apart. AssertionError: no function of four arguments.
    """
    if positional_arguments(mask_mod) != 4:
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    counts = _counts(create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device), *size)
    full = counts == math.prod(size)
    partial = (counts > 0) & ~full if separate_full_blocks else counts > 0
    full_lists = _ordered(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(*_ordered(partial), *full_lists, size, mask_mod, (Q_LEN, KV_LEN))


def _counts(mask: Tensor, query_size: int, key_size: int) -> Tensor:
    """Return how many pairs of each block attend. Shape: mask (B, H, L, S), result (B, H, query blocks, key blocks)."""
    *outer, queries, keys = mask.shape
    padded = F.pad(mask, (0, -keys % key_size, 0, -queries % query_size))
    blocks = padded.reshape(*outer, padded.shape[-2] // query_size, query_size, padded.shape[-1] // key_size, key_size)
    return blocks.sum((-3, -1))


def _ordered(dense: Tensor) -> tuple[Tensor, Tensor]:
    """Return the number of listed blocks in each row, and the blocks, listed ones first."""
    numbers = dense.to(int32)
    order = fg.argsort(numbers, dim=-1, descending=True, stable=True)
    return numbers.sum(-1).to(int32), order.to(int32)


def _dense(num_blocks: Tensor, indices: Tensor) -> Tensor:
    """Return 1 where a block is listed. Shape: indices (*, rows, columns), result likewise."""
    columns = indices.shape[-1]
    counts = fg.arange(columns, device=indices.device) < num_blocks.unsqueeze(-1)
    places = fg.where(counts, indices, columns).long()
    empty = indices.new_zeros((*indices.shape[:-1], columns + 1))
    return empty.scatter(-1, places, 1)[..., :columns]


def _turned(num_blocks: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """Return the lists with queries and keys exchanged."""
    if num_blocks is None or indices is None:
        return None, None
    return _ordered(_dense(num_blocks, indices).transpose(-2, -1))


def _kept(index: Any, size: int) -> Any:
    """Return an index that keeps its dimension."""
    if not isinstance(index, int):
        return index
    first = index + size if -size <= index < 0 else index
    return slice(first, first + 1)


def _drawn(rows: list[list[int]], steps: list[int]) -> str:
    lines = []
    for top in range(0, len(rows), steps[0]):
        line = ""
        for left in range(0, len(rows[0]), steps[1]):
            block = [x for row in rows[top : top + steps[0]] for x in row[left : left + steps[1]]]
            line += 2 * ("█" if all(block) else "░" if any(block) else " ")
        lines.append(line + "\n")
    return "".join(lines)
