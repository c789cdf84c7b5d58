"""Maps from an index to a sample: each of these takes another and is a method of all, `pipe.map(f)`."""

from __future__ import annotations

from funcgrad.utils.data.datapipes.map.pipes import BatcherMapDataPipe as Batcher
from funcgrad.utils.data.datapipes.map.pipes import ConcaterMapDataPipe as Concater
from funcgrad.utils.data.datapipes.map.pipes import MapperMapDataPipe as Mapper
from funcgrad.utils.data.datapipes.map.pipes import SequenceWrapperMapDataPipe as SequenceWrapper
from funcgrad.utils.data.datapipes.map.pipes import ShufflerIterDataPipe as Shuffler
from funcgrad.utils.data.datapipes.map.pipes import ZipperMapDataPipe as Zipper

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]
