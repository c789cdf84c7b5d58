"""Streams of samples: each of these takes another and is a method of all, `pipe.map(f)` for `Mapper(pipe, f)`."""

from __future__ import annotations

from funcgrad.utils.data.datapipes.iter.branching import DemultiplexerIterDataPipe as Demultiplexer
from funcgrad.utils.data.datapipes.iter.branching import ForkerIterDataPipe as Forker
from funcgrad.utils.data.datapipes.iter.each import CollatorIterDataPipe as Collator
from funcgrad.utils.data.datapipes.iter.each import FilterIterDataPipe as Filter
from funcgrad.utils.data.datapipes.iter.each import MapperIterDataPipe as Mapper
from funcgrad.utils.data.datapipes.iter.grouping import BatcherIterDataPipe as Batcher
from funcgrad.utils.data.datapipes.iter.grouping import GrouperIterDataPipe as Grouper
from funcgrad.utils.data.datapipes.iter.grouping import UnBatcherIterDataPipe as UnBatcher
from funcgrad.utils.data.datapipes.iter.joining import ConcaterIterDataPipe as Concater
from funcgrad.utils.data.datapipes.iter.joining import MultiplexerIterDataPipe as Multiplexer
from funcgrad.utils.data.datapipes.iter.joining import ZipperIterDataPipe as Zipper
from funcgrad.utils.data.datapipes.iter.ordering import SamplerIterDataPipe as Sampler
from funcgrad.utils.data.datapipes.iter.ordering import ShardingFilterIterDataPipe as ShardingFilter
from funcgrad.utils.data.datapipes.iter.ordering import ShufflerIterDataPipe as Shuffler
from funcgrad.utils.data.datapipes.iter.sources import FileListerIterDataPipe as FileLister
from funcgrad.utils.data.datapipes.iter.sources import FileOpenerIterDataPipe as FileOpener
from funcgrad.utils.data.datapipes.iter.sources import IterableWrapperIterDataPipe as IterableWrapper
from funcgrad.utils.data.datapipes.iter.sources import StreamReaderIterDataPipe as StreamReader

__all__ = [
    "Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileOpener", "Filter", "Forker", "Grouper",
    "IterableWrapper", "Mapper", "Multiplexer", "Sampler", "ShardingFilter", "Shuffler", "StreamReader", "UnBatcher",
    "Zipper",
]  # fmt: skip
