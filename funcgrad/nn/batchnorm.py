"""Normalization by statistics of a batch or of an instance, with running statistics kept as buffers."""

from __future__ import annotations

from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.warning import warn
from funcgrad._base.world import world
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn import init
from funcgrad.nn.lazy import LazyModuleMixin
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter, empty_parameter, is_lazy
from funcgrad.nn.synchronized import synchronized_batch_norm


class _NormBase(Module):
    """Scale, shift and running statistics of `num_features` channels."""

    _version = 2
    __constants__ = ("track_running_stats", "momentum", "eps", "num_features", "affine")
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, self._new_parameter(device, dtype) if wanted else None)
        for name in ("running_mean", "running_var"):
            self.register_buffer(name, self._new_buffer(device, dtype) if track_running_stats else None)
        counter = fg.zeros((), dtype=dtypes.int64, device=device)._materialize() if track_running_stats else None
        self.register_buffer("num_batches_tracked", counter)
        self.reset_parameters()

    def _new_parameter(self, device: Any, dtype: Any) -> Parameter:
        return empty_parameter(self.num_features, device, dtype)

    def _new_buffer(self, device: Any, dtype: Any) -> Tensor:
        return fg.empty(self.num_features, device=device, dtype=dtype)

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the running variance to 1, and start to count anew."""
        if self.track_running_stats:
            assert self.running_mean is not None and self.running_var is not None
            assert self.num_batches_tracked is not None
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0, and the running statistics to their start."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__} must say which inputs it takes")

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load; files written before torch 0.4.1 have no count of batches, which is then left as it is."""
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            counter = self.num_batches_tracked
            state_dict[key] = fg.tensor(0, dtype=dtypes.int64) if counter is None else counter
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)


class _BatchNorm(_NormBase):
    """Normalization of each channel by the batch's mean and variance; in evaluation by the running ones."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalized input. In training the running statistics move. Shape: as the input."""
        self._check_input_dim(input)
        momentum: Any = 0.0 if self.momentum is None else self.momentum
        tracks = self.training and self.track_running_stats
        if tracks and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # then the running statistics are plain means over all batches
                momentum = self.num_batches_tracked.reciprocal()
        return self._normalized(input, momentum)

    def _normalized(self, input: Tensor, momentum: Any) -> Tensor:
        return F.batch_norm(
            input,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            momentum,
            self.eps,
        )


class _InstanceNorm(_NormBase):
    """Normalization of each channel of each sample by its own mean and variance."""

    unbatched_dim: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalized input. Shape: (N, C, *) or (C, *), result the same."""
        self._check_input_dim(input)
        channels = input.size(input.dim() - self.unbatched_dim)
        if channels != self.num_features:
            self._refuse(channels, input.dim() - self.unbatched_dim)
        if input.dim() == self.unbatched_dim:
            return self._normalized(input.unsqueeze(0)).squeeze(0)
        return self._normalized(input)

    def _refuse(self, channels: int, dim: int) -> None:
        """Raise ValueError for a wrong number of channels where each has its own scale; else only warn."""
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {channels}."
            )
        warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in "
            "num_features, which is not used because affine=False"
        )

    def _normalized(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load; statistics that this layer does not keep, as files from before torch 0.4 have them, are refused."""
        if local_metadata.get("version") is None and not self.track_running_stats:
            found = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if found:
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {' and '.join(map(repr, found))} for {type(self).__name__} "
                    "with track_running_stats=False. Remove these keys, or set track_running_stats=True to use them."
                )
                for key in found:
                    state_dict.pop(key)
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)


class _Over1d(_NormBase):
    unbatched_dim = 2

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class _Over2d(_NormBase):
    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class _Over3d(_NormBase):
    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class BatchNorm1d(_Over1d, _BatchNorm):
    """Batch normalization. Shape: input (N, C) or (N, C, L)."""


class BatchNorm2d(_Over2d, _BatchNorm):
    """Batch normalization of images. Shape: input (N, C, H, W)."""


class BatchNorm3d(_Over3d, _BatchNorm):
    """Batch normalization of volumes. Shape: input (N, C, D, H, W)."""


class SyncBatchNorm(_BatchNorm):
    """BatchNorm of any number of dimensions, by the mean and variance of what all processes of a group have.

    process_group: None for all processes. ValueError in training on a CPU once there is a process group, as in PyTorch.
    A batch spread over the devices of one process is one array: there is nothing to synchronize.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def _normalized(self, input: Tensor, momentum: Any) -> Tensor:
        """Return the normalized input: together with the other processes, where there are some."""
        if not self.training or world().group is None:
            return super()._normalized(input, momentum)
        self._check_device(input)
        group = self.process_group or world().group
        if group.size() == 1:
            return super()._normalized(input, momentum)
        statistics = (self.running_mean, self.running_var) if self.track_running_stats else (None, None)
        return synchronized_batch_norm(input, self.weight, self.bias, *statistics, self.eps, momentum, group)

    def _check_device(self, input: Tensor) -> None:
        if input.device.type == "cpu":
            raise ValueError("SyncBatchNorm expected input tensor to be on GPU or XPU or privateuseone")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Return `module` with every batch normalization in it replaced by a SyncBatchNorm of the same parameters."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            converted._parameters.update(module._parameters)
            converted._buffers.update(module._buffers)
            converted.training = module.training
            if hasattr(module, "qconfig"):
                converted.qconfig = module.qconfig
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class InstanceNorm1d(_Over1d, _InstanceNorm):
    """Instance normalization. Shape: input (N, C, L) or (C, L)."""

    unbatched_dim = 2


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of images. Shape: input (N, C, H, W) or (C, H, W)."""

    unbatched_dim = 3

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (3, 4):
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of volumes. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    unbatched_dim = 4

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (4, 5):
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A normalization that learns `num_features` from its first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _new_parameter(self, device: Any, dtype: Any) -> Any:
        return UninitializedParameter(device=device, dtype=dtype)

    def _new_buffer(self, device: Any, dtype: Any) -> Any:
        return UninitializedBuffer(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Initialise, once the sizes are known."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Make parameters and statistics for inputs of this shape."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for member in (self.weight, self.bias, self.running_mean, self.running_var):
            if is_lazy(member):
                member.materialize((self.num_features,))  # type: ignore[union-attr]  # lazy members have it
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A BatchNorm1d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A BatchNorm2d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A BatchNorm3d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d):
    """An InstanceNorm1d that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d):
    """An InstanceNorm2d that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d):
    """An InstanceNorm3d that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm3d
