"""torch.utils.data.datapipes: streams and maps of samples that are put together of smaller ones.

>>> pipe = iter.IterableWrapper(range(6)).filter(lambda x: x % 2 == 0).map(lambda x: x + 1).batch(2)
>>> list(pipe)
[[1, 3], [5]]
"""

from __future__ import annotations

from funcgrad.utils.data.datapipes import iter, map

__all__ = ["iter", "map"]
