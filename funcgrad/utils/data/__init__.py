"""Datasets, samplers and the `DataLoader`: how samples become batches, in torch's order for a seed."""

from __future__ import annotations

from funcgrad.utils.data import datapipes, graph, graph_settings
from funcgrad.utils.data.collate import default_collate, default_convert
from funcgrad.utils.data.dataloader import DataLoader
from funcgrad.utils.data.datapipes.datapipe import (
    DataChunk,
    IterDataPipe,
    MapDataPipe,
    functional_datapipe,
    guaranteed_datapipes_determinism,
    non_deterministic,
)
from funcgrad.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from funcgrad.utils.data.distributed import DistributedSampler
from funcgrad.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from funcgrad.utils.data.worker_info import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataChunk",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterDataPipe",
    "IterableDataset",
    "MapDataPipe",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "datapipes",
    "default_collate",
    "default_convert",
    "functional_datapipe",
    "get_worker_info",
    "graph",
    "graph_settings",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "random_split",
]
