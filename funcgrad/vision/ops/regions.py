"""roi_align: boxes of feature maps, each resampled to a grid of the same size."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor


def roi_align(
    input: Tensor, boxes: Tensor | Sequence[Tensor], output_size: int | tuple[int, int], spatial_scale: float = 1.0,
    sampling_ratio: int = -1, aligned: bool = False,
) -> Tensor:  # fmt: skip
    """Return the mean of each bin of each box, sampled between the pixels.

    boxes: (K, 5), each the picture's number and x1, y1, x2, y2; or (L, 4) for each picture. spatial_scale: from their
    units to pixels. sampling_ratio: samples of a bin in each direction; -1: as many as it has pixels, for which the
    boxes are read. aligned: pixels have their centres at 0, 1, ..., not at 0.5, 1.5, ...
    Shape: input (N, C, H, W); result (K, C, *output_size). Boxes have no gradient.
    Source: He et al. 2017, https://arxiv.org/abs/1703.06870, section 3.
    """
    rows, columns = (output_size, output_size) if isinstance(output_size, int) else output_size
    boxes = _numbered(boxes).detach()
    if not len(boxes):
        return input.new_zeros(0, input.shape[1], rows, columns)
    x1, y1, x2, y2 = (boxes[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)).unbind(1)
    height, width = (y2 - y1, x2 - x1) if aligned else ((y2 - y1).clamp(min=1), (x2 - x1).clamp(min=1))
    down = _shares(y1, height, rows, sampling_ratio, input.shape[2])
    along = _shares(x1, width, columns, sampling_ratio, input.shape[3])
    return down[:, None].to(input.dtype) @ input[boxes[:, 0].long()] @ along[:, None].mT.to(input.dtype)


class RoIAlign(nn.Module):
    """Resamples boxes of feature maps to grids of one size: `roi_align` with its options."""

    def __init__(
        self, output_size: int | tuple[int, int], spatial_scale: float, sampling_ratio: int, aligned: bool = False
    ) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale
        self.sampling_ratio, self.aligned = sampling_ratio, aligned

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        """Return the boxes' grids. Shape: input (N, C, H, W), rois (K, 5); result (K, C, *output_size)."""
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)

    def extra_repr(self) -> str:
        """Return the options."""
        names = ("output_size", "spatial_scale", "sampling_ratio", "aligned")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


def _numbered(boxes: Tensor | Sequence[Tensor]) -> Tensor:
    """Return boxes in rows that begin with the number of their picture. Shape: (K, 5)."""
    if isinstance(boxes, Tensor):
        if boxes.ndim != 2 or boxes.shape[1] != 5:
            raise ValueError("The boxes tensor shape is not correct as Tensor[K, 5]")
        return boxes
    if any(each.ndim != 2 or each.shape[1] != 4 for each in boxes):
        raise ValueError("The shape of the tensor in the boxes list is not correct as List[Tensor[L, 4]]")
    return fg.cat([fg.cat([fg.full_like(each[:, :1], i), each], 1) for i, each in enumerate(boxes)])


def _shares(start: Tensor, extent: Tensor, bins: int, sampling_ratio: int, length: int) -> Tensor:
    """Return how much each pixel of a row counts in each bin of each box. Shape: start, extent (K,); (K, bins, length).

    A sample lies between two pixels and counts in both, the nearer one more: 1 - distance. None lies outside.
    """
    width = (extent / bins)[:, None, None]
    counts = fg.full_like(width, sampling_ratio) if sampling_ratio > 0 else width.ceil().clamp(min=1)
    most = sampling_ratio if sampling_ratio > 0 else int(counts.max().item())
    samples = fg.arange(most, device=start.device)
    numbers = fg.arange(bins, device=start.device)[:, None]
    places = start[:, None, None] + width * (numbers + (samples + 0.5) / counts)
    counted = (places >= -1) & (places <= length) & (samples < counts) & ((width > 0) | (sampling_ratio > 0))
    distances = fg.arange(length, device=start.device) - places.clamp(0, length - 1)[..., None]
    return ((1 - distances.abs()).clamp(min=0) * counted[..., None]).sum(2) / counts
