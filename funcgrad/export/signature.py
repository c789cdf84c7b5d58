"""What the inputs and outputs of an exported graph stand for: parameters, buffers, constants, what the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


@dataclass
class TensorArgument:
    """A tensor, by the name of its node."""

    name: str


@dataclass
class ConstantArgument:
    """A number, string or None, by the name of its node and its value."""

    name: str
    value: Any


class InputKind(Enum):
    """What an input of a graph is."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()
    CUSTOM_OBJ = auto()
    TOKEN = auto()


class OutputKind(Enum):
    """What an output of a graph is."""

    USER_OUTPUT = auto()
    LOSS_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    GRADIENT_TO_PARAMETER = auto()
    GRADIENT_TO_USER_INPUT = auto()
    USER_INPUT_MUTATION = auto()
    TOKEN = auto()


@dataclass
class InputSpec:
    """One input. target: its dotted name in the module; persistent: of a buffer, whether it is in the state_dict."""

    kind: InputKind
    arg: Any
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclass
class OutputSpec:
    """One output. target: the dotted name of what it is to be written to."""

    kind: OutputKind
    arg: Any
    target: str | None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        return f"{self.arg.name}: {self.kind.name}{target}"


@dataclass
class ExportGraphSignature:
    """The inputs and outputs of a graph in their order."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _targets(self, kind: InputKind) -> tuple[str, ...]:
        return tuple(spec.target for spec in self.input_specs if spec.kind is kind and spec.target is not None)

    def _names(self, kind: InputKind) -> Mapping[str, str]:
        return {s.arg.name: s.target for s in self.input_specs if s.kind is kind and s.target is not None}

    @property
    def parameters(self) -> tuple[str, ...]:
        """The dotted names of the parameters."""
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self) -> tuple[str, ...]:
        """The dotted names of the buffers."""
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """The dotted names of the buffers that are not in the state_dict."""
        return tuple(s.target for s in self.input_specs if s.persistent is False and s.target is not None)

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """The dotted names of tensors that are neither parameters nor buffers."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """What the user gives: names of tensors, and numbers."""
        return tuple(_shown(s.arg) for s in self.input_specs if s.kind is InputKind.USER_INPUT)

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """What the user gets: names of tensors, and numbers."""
        return tuple(_shown(s.arg) for s in self.output_specs if s.kind is OutputKind.USER_OUTPUT)

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """From names of nodes to those of parameters."""
        return self._names(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """From names of nodes to those of buffers."""
        return self._names(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """From names of nodes to those of constants."""
        return self._names(InputKind.CONSTANT_TENSOR)

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """From names of outputs to the buffers to which they are to be written: none, graphs write in place."""
        return {s.arg.name: s.target for s in self.output_specs if s.kind is OutputKind.BUFFER_MUTATION and s.target}

    def __str__(self) -> str:
        inputs = "".join(f"{spec}\n" for spec in self.input_specs)
        outputs = "".join(f"{spec}\n" for spec in self.output_specs)
        return f"\n# inputs\n{inputs}\n# outputs\n{outputs}"


def _shown(argument: Any) -> Any:
    return argument.value if isinstance(argument, ConstantArgument) else argument.name


@dataclass
class CallSpec:
    """The structure of what is given, (args, kwargs), and of what comes back. names: of both kinds' parameters."""

    in_spec: Any
    out_spec: Any
    names: tuple[list[str], list[str]] = field(default=((), ()), repr=False)  # type: ignore[assignment]  # none known
