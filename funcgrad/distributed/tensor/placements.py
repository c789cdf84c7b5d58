"""Placements: how a tensor is spread over one dimension of a mesh of processes."""

from __future__ import annotations

from dataclasses import dataclass


class Placement:
    """Base of Shard, Replicate and Partial."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Tell whether each process holds a part, of dimension `dim` if that is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Tell whether each process holds the whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Tell whether the whole is a reduction of what the processes hold."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each process holds a contiguous part of dimension `dim`."""

    dim: int

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """Return how long the part of `rank` is, and where it begins, where a dimension is cut into `num_chunks`."""
        chunk = -(-curr_local_size // num_chunks)
        start = min(chunk * rank, curr_local_size)
        return min(chunk, curr_local_size - start), start

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class _StridedShard(Shard):
    """Each process holds one part of each of `split_factor` groups of dimension `dim`."""

    split_factor: int

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process holds the whole."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """The whole is a reduction, by default the sum, of what the processes hold."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"
