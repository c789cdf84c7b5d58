"""torch.distributed: what several processes do together. What they give each other goes through a store, over TCP.

Processes are those of torchrun (`python -m funcgrad -m torch.distributed.run`), or threads, as `multiprocessing` has
them. All devices of a machine are driven from one of them, so that a group of one is enough to use them.
"""

from __future__ import annotations

from funcgrad.distributed import algorithms, autograd, checkpoint, device_mesh, elastic, fsdp, nn, optim, rpc, tensor
from funcgrad.distributed.collectives import (
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    broadcast_object_list,
    gather,
    gather_object,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    scatter_object_list,
)
from funcgrad.distributed.constants import default_pg_timeout
from funcgrad.distributed.device_mesh import DeviceMesh, init_device_mesh
from funcgrad.distributed.groups import (
    Backend,
    GroupMember,
    ProcessGroup,
    destroy_process_group,
    get_backend,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
)
from funcgrad.distributed.groups import _rank_not_in_group as _rank_not_in_group
from funcgrad.distributed.point_to_point import (
    P2POp,
    batch_isend_irecv,
    irecv,
    isend,
    recv,
    recv_object_list,
    send,
    send_object_list,
)
from funcgrad.distributed.reductions import ReduceOp, reduce_op
from funcgrad.distributed.stores import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    FileStore,
    HashStore,
    PrefixStore,
    Store,
    TCPStore,
)
from funcgrad.distributed.work import Work
from funcgrad.nn.gradient_buckets import GradBucket

all_gather_single, reduce_scatter_single = all_gather_into_tensor, reduce_scatter_tensor
_all_gather_base, _reduce_scatter_base = all_gather_into_tensor, reduce_scatter_tensor

__all__ = [
    "Backend", "DeviceMesh", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore",
    "GradBucket", "GroupMember", "HashStore", "P2POp", "PrefixStore", "ProcessGroup", "ReduceOp", "Store", "TCPStore",
    "Work", "algorithms", "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object",
    "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "autograd",
    "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "checkpoint", "default_pg_timeout",
    "destroy_process_group", "device_mesh", "elastic", "fsdp", "gather", "gather_object", "get_backend",
    "get_default_backend_for_device", "get_global_rank", "get_group_rank", "get_node_local_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_device_mesh", "init_process_group",
    "irecv", "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend",
    "monitored_barrier", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "nn", "optim", "recv",
    "recv_object_list", "reduce", "reduce_op", "reduce_scatter", "reduce_scatter_single", "reduce_scatter_tensor",
    "rpc", "scatter", "scatter_object_list", "send", "send_object_list", "tensor",
]  # fmt: skip

_get_global_rank = get_global_rank
