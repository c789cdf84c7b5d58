"""Streams that look at one sample at a time: what a function makes of it, and whether it stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from funcgrad.utils.data.collate import default_collate
from funcgrad.utils.data.datapipes.datapipe import Chained, IterDataPipe, functional_datapipe
from funcgrad.utils.data.datapipes.files import StreamWrapper
from funcgrad.utils.data.datapipes.functions import check_function, columns_of, validate_input_col

__all__ = ["CollatorIterDataPipe", "FilterIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(Chained):
    """What a function makes of each sample, or of some of its columns.

    input_col: the column, or a list of columns, that `fn` is called with; None: the whole sample. output_col: where its
    result is put; -1: at the end; None: in the first of `input_col`, while the others of these go.
    """

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        super().__init__(datapipe)
        check_function(fn)
        self.fn = fn
        self.input_col = input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = list(output_col)[0]  # noqa: RUF015 - an IndexError where there is none
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, sample: Any) -> Any:
        result = self.fn(*columns_of(sample, self.input_col))
        if self.input_col is None:
            return result
        columns = list(sample) if isinstance(sample, tuple) else sample
        if self.output_col is not None:
            if self.output_col == -1:
                columns.append(result)
            else:
                columns[self.output_col] = result
        elif isinstance(self.input_col, (list, tuple)):
            columns[self.input_col[0]] = result
            for column in sorted(self.input_col[1:], reverse=True):
                del columns[column]
        else:
            columns[self.input_col] = result
        return tuple(columns) if isinstance(sample, tuple) else columns

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            yield self._apply_fn(sample)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Tensors made of each batch, by `collate_fn` or as a DataLoader makes them."""

    def __init__(
        self, datapipe: Any, conversion: Callable[..., Any] = default_collate,
        collate_fn: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(datapipe, fn=conversion if collate_fn is None else collate_fn)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Any]):
    """The samples of which `filter_fn` says True, asked with the whole sample or with some of its columns."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., bool], input_col: Any = None) -> None:
        self.datapipe = datapipe
        check_function(filter_fn)
        self.filter_fn, self.input_col = filter_fn, input_col
        validate_input_col(filter_fn, input_col)

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            stays = self.filter_fn(*columns_of(sample, self.input_col))
            if not isinstance(stays, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(stays))
            if stays:
                yield sample
            else:
                StreamWrapper.close_streams(sample)
