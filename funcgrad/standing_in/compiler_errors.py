"""torch._dynamo.exc: the errors of torch's own compiler, for code that catches them. Only InvalidBackend is raised."""

from __future__ import annotations

__all__ = [
    "BackendCompilerFailed", "FailOnRecompileLimitHit", "InternalTorchDynamoError", "InvalidBackend", "RecompileError",
    "ResetRequired", "SkipFrame", "TorchDynamoException", "TorchRuntimeError", "Unsupported", "UserError",
]  # fmt: skip


class TorchDynamoException(RuntimeError):  # noqa: N818 - torch's own spelling
    """What torch's compiler raises."""


class InternalTorchDynamoError(TorchDynamoException):
    """A fault of the compiler itself."""


class TorchRuntimeError(TorchDynamoException):
    """A fault of a function while its shapes were traced."""


class BackendCompilerFailed(TorchDynamoException):
    """What a backend raised."""


class InvalidBackend(TorchDynamoException):
    """A backend whose name is not known."""

    __module__ = "torch._dynamo.exc"  # for a traceback; nothing renames it before it is raised

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class ResetRequired(TorchDynamoException):
    """Compiled frames have to be forgotten first."""


class SkipFrame(TorchDynamoException):
    """A frame that is run as it is."""


class Unsupported(TorchDynamoException):
    """Code that the compiler does not follow."""


class UserError(TorchDynamoException):
    """Code that cannot be compiled as it is."""

    __module__ = "torch._dynamo.exc"


class RecompileError(TorchDynamoException):
    """A second compile where none is allowed."""


class FailOnRecompileLimitHit(Exception):  # noqa: N818 - torch's own spelling
    """Too many compiles where that counts as a fault."""
