"""Parametrizations ready to use: weight normalization, spectral normalization, orthogonal matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn import init
from funcgrad.nn.module import Module
from funcgrad.nn.utils.parametrize import register_parametrization
from funcgrad.nn.utils.spectral_norm import dim_of_outputs
from funcgrad.nn.utils.weight_norm import norm_except_dim, weight_of

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_solve = fg.lookup("linalg")("solve")
_MAPS = ("matrix_exp", "cayley", "householder")


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn length (`original0`) and direction (`original1`) of a weight apart.

    Source: Salimans and Kingma 2016, https://arxiv.org/abs/1602.07868.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value. Source: Miyato et al. 2018, https://arxiv.org/abs/1802.05957."""
    weight = _tensor_named(module, name)
    dim = dim_of_outputs(module) if dim is None else dim
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a matrix orthogonal (or a batch of them): its rows, or its columns where these are fewer.

    Source: Lezcano-Casado and Martinez-Rubio 2019, https://arxiv.org/abs/1901.08428.
    """
    weight = _tensor_named(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    is_square = weight.shape[-2] == weight.shape[-1]
    chosen = orthogonal_map or ("matrix_exp" if is_square or weight.is_complex() else "householder")
    if chosen not in _MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {chosen}')
    register_parametrization(module, name, _Orthogonal(weight, chosen, use_trivialization), unsafe=True)
    return module


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """Return the weight of this length and direction."""
        return weight_of(weight_v.contiguous(), weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return length and direction of a weight."""
        return norm_except_dim(weight, 2, self.dim), weight


class _OldNames:
    """Reads the names that the hook of `nn.utils.weight_norm` writes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for end, original in (("_g", "original0"), ("_v", "original1")):
            if f"{prefix}{self.name}{end}" in state_dict:
                new = f"{prefix}parametrizations.{self.name}.{original}"
                state_dict[new] = state_dict.pop(f"{prefix}{self.name}{end}")


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._as_matrix(weight.detach())
            drawn = [to_host(matrix.new_empty(size).normal_(0, 1)) for size in matrix.shape]
            vectors = _singular_vectors(to_host(matrix), drawn[0], drawn[1], eps)
            for name, vector in zip(("_u", "_v"), vectors, strict=True):
                self.register_buffer(name, init.assigned(matrix.new_empty(vector.shape), vector))

    def _as_matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight divided by its largest singular value."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        u, v = self._u.detach(), self._v.detach()
        if self.training:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    u = F.normalize(matrix.detach().mv(v), dim=0, eps=self.eps)
                    v = F.normalize(matrix.detach().t().mv(u), dim=0, eps=self.eps)
                self._u.copy_(u)
                self._v.copy_(v)
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the weight itself."""
        return value


class _Orthogonal(Module):
    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """Return the orthogonal matrix that X stands for."""
        rows, columns = X.shape[-2:]
        is_wide = rows < columns
        tall = X.mT if is_wide else X
        q = self._reflected(tall) if self.orthogonal_map == "householder" else self._rotated(tall)
        if "base" in self._buffers:
            q = self.base @ q
        return q.mT if is_wide else q

    def _rotated(self, tall: Tensor) -> Tensor:
        """Return the orthogonal matrix of a skew-symmetric one, by exp or by Cayley's map."""
        rows, columns = tall.shape[-2:]
        lower = tall.tril()
        if rows != columns:
            rest = lower.new_zeros((*lower.shape[:-1], rows - columns))
            lower = fg.cat([lower, rest], dim=-1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            return skew.matrix_exp()[..., :columns]
        identity = fg.eye(rows, dtype=skew.dtype, device=skew.device)
        return _solve(identity - 0.5 * skew, identity + 0.5 * skew)[..., :columns]

    def _reflected(self, tall: Tensor) -> Tensor:
        """Return the product of Householder's reflections, its columns signed by the diagonal.

        As in torch a sign is what the diagonal is, cut to a whole number: once weight decay has moved it, that is 0.
        """
        vectors = tall.tril(diagonal=-1)
        rows, columns = tall.shape[-2:]
        q = fg.eye(rows, dtype=tall.dtype, device=tall.device)[:, :columns].expand(tall.shape)
        vectors = vectors + fg.eye(rows, dtype=tall.dtype, device=tall.device)[:, :columns]
        for place in reversed(range(columns)):
            v = vectors[..., place : place + 1]
            q = q - v @ (2.0 / (v * v).sum((-2, -1), keepdim=True) * (v.mT @ q))
        return q * tall.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def right_inverse(self, Q: Tensor) -> Tensor:
        """Return the X that stands for Q. With a trivialization: keep Q as the base and start at the identity."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        is_wide = Q.shape[-2] < Q.shape[-1]
        tall = Q.mT if is_wide else Q
        if "base" not in self._buffers:
            reflectors = self._reflectors(tall)
            return reflectors.mT if is_wide else reflectors
        rows, columns = tall.shape[-2:]
        rest = tall.new_empty((*tall.shape[:-1], rows - columns))
        base = _orthogonalized(to_host(fg.cat([tall, rest.normal_()], dim=-1) if rows > columns else tall))
        self.base = init.assigned(Q.new_empty(base.shape), base)
        return Q.new_zeros(Q.shape).diagonal_scatter(
            Q.new_full(tall.mT.diagonal(dim1=-2, dim2=-1).shape, -1.0), 0, -2, -1
        )

    def _reflectors(self, tall: Tensor) -> Tensor:
        """Return Householder's vectors of a matrix, and on the diagonal the signs by which `forward` multiplies."""
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        vectors, factors = fg.geqrf(tall)
        signs = vectors.diagonal(dim1=-2, dim2=-1).sign() * fg.where(factors == 0, -1.0, 1.0)
        return vectors.diagonal_scatter(signs, 0, -2, -1)


def _tensor_named(module: Module, name: str) -> Tensor:
    tensor = getattr(module, name, None)
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return tensor


def _singular_vectors(matrix: Any, u: Any, v: Any, eps: float) -> tuple[Any, Any]:
    """Fifteen power iterations, torch's start, on the host."""
    u, v = u / max(np.linalg.norm(u), eps), v / max(np.linalg.norm(v), eps)
    for _ in range(15):
        u = matrix @ v
        u = u / max(np.linalg.norm(u), eps)
        v = matrix.conj().T @ u
        v = v / max(np.linalg.norm(v), eps)
    return u, v


def _orthogonalized(square: Any) -> Any:
    """Return the Q of QR whose R has a positive diagonal: its first columns span those of `square`."""
    q, r = np.linalg.qr(square)
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    return q * np.where(diagonal == 0, 1, np.sign(diagonal))[..., None, :]
