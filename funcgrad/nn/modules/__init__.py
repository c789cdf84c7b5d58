"""torch.nn.modules: the names under which torch has its layers, for scripts that import them and for saved models."""

from __future__ import annotations

import sys
from types import ModuleType

from funcgrad._tensor import module_calls
from funcgrad.nn import (
    activation,
    adaptive,
    attention_parts,
    batchnorm,
    containers,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    hooks,
    lazy,
    linear,
    linear_cross_entropy,
    linear_loss,
    loss,
    members,
    module,
    multihead_attention,
    normalization,
    padding,
    parameter_containers,
    pixelshuffle,
    pooling,
    rnn,
    rnn_cells,
    sizes,
    sparse,
    state_dict,
    transformer,
    upsampling,
)
from funcgrad.nn import functional as F
from funcgrad.nn.parallel import DataParallel
from funcgrad.nn.parameter import Parameter
from funcgrad.serialization.names import register_globals, register_parameter

_CONSTANTS = (
    "_EXTRA_STATE_KEY_SUFFIX", "_global_buffer_registration_hooks", "_global_module_registration_hooks",
    "_global_parameter_registration_hooks", "_shape_t",
)  # fmt: skip
_INSTANCE_NORMS = {name for name in vars(batchnorm) if "InstanceNorm" in name}
_FILES: dict[str, tuple[ModuleType, ...]] = {
    "activation": (activation, multihead_attention), "adaptive": (adaptive,), "batchnorm": (batchnorm,),
    "instancenorm": (batchnorm,), "channelshuffle": (pixelshuffle,), "container": (containers, parameter_containers),
    "conv": (conv, sizes),
    "distance": (distance,), "dropout": (dropout,), "flatten": (flatten,), "fold": (fold,), "lazy": (lazy,),
    "linear": (linear,), "loss": (loss, linear_loss),
    "linear_cross_entropy_options": (linear_cross_entropy,),
    "module": (module, hooks, module_calls, members, state_dict),
    "normalization": (normalization,),
    "padding": (padding,), "pixelshuffle": (pixelshuffle,), "pooling": (pooling,),
    "rnn": (rnn, rnn_cells), "sparse": (sparse,),
    "transformer": (transformer, attention_parts), "upsampling": (upsampling,), "utils": (sizes, state_dict),
}  # fmt: skip


def _own_members(source: ModuleType) -> dict[str, object]:
    """Return the classes, functions and torch's own constants that are written in this file."""
    return {
        name: value
        for name, value in vars(source).items()
        if getattr(value, "__module__", "") == source.__name__ or name in _CONSTANTS
    }


def _enter(file: str, sources: tuple[ModuleType, ...]) -> dict[str, object]:
    """Make torch's module of this name out of ours; return its members under torch's full names."""
    named = ModuleType(f"{__name__}.{file}", f"torch.nn.modules.{file}: see {sources[0].__name__}.")
    for source in sources:
        vars(named).update(_own_members(source))
    if file == "batchnorm":
        for name in _INSTANCE_NORMS:
            vars(named).pop(name, None)
    if file == "channelshuffle":
        vars(named).pop("PixelShuffle", None)
        vars(named).pop("PixelUnshuffle", None)
    sys.modules[named.__name__] = named
    globals()[file] = named
    return {f"torch.nn.modules.{file}.{name}": value for name, value in vars(named).items() if isinstance(value, type)}


for _file, _sources in _FILES.items():
    _members = _enter(_file, _sources)
    register_globals(_members)
    globals().update({name.rpartition(".")[2]: value for name, value in _members.items()})
register_globals({"torch.nn.functional.relu": F.relu, "torch.nn.functional.gelu": F.gelu, "torch._C._nn.gelu": F.gelu})
register_globals({"torch.nn.parallel.data_parallel.DataParallel": DataParallel})
register_parameter(Parameter)
