"""What funcgrad's own classes call themselves where torch's are expected."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import funcgrad as torch
from funcgrad.standing_in import script_types
from tests.standing_in.running import output_of

SCRIPT = """
import pickle, torch
from torch.autograd.gradcheck import GradcheckError
from torch.nn.utils import prune

print(type(torch.ones(1, requires_grad=True).register_hook(print)))
print(type(torch.Generator()), prune.L1Unstructured, GradcheckError)
from torch.nn.attention.bias import CausalBias
from torch.utils.benchmark import Timer
print(CausalBias, type(pickle.loads(pickle.dumps(Timer("1").timeit(2)))))
torch.relu("text")
"""


def test_refused_arguments_are_pythons_own_errors() -> None:
    with pytest.raises(TypeError) as told:
        torch.relu("text")
    assert type(told.value).__name__ == "TypeError"
    assert repr(told.value) == """TypeError("relu(): argument 'input' (position 1) must be Tensor, not str")"""
    assert repr(pickle.loads(pickle.dumps(told.value))) == repr(told.value)


def test_a_size_is_a_class_of_no_type_variables() -> None:
    assert not hasattr(torch.Size, "__orig_bases__")  # by which beartype and plum tell generic classes
    assert torch.Size.__mro__ == (torch.Size, tuple, object)


def test_a_script_sees_torchs_names(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, "-m", "funcgrad", "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stdout.splitlines() == [
        "<class 'torch.utils.hooks.RemovableHandle'>",
        "<class 'torch._C.Generator'> <class 'torch.nn.utils.prune.L1Unstructured'> "
        "<class 'torch.autograd.gradcheck.GradcheckError'>",
        "<class 'torch.nn.attention.bias.CausalBias'> <class 'torch.utils.benchmark.utils.common.Measurement'>",
    ]
    assert ran.stderr.splitlines()[-1] == "TypeError: relu(): argument 'input' (position 1) must be Tensor, not str"


def test_rooms_that_were_asked_for_are_not_searched_for_classes_again(tmp_path: Path) -> None:
    printed = output_of(
        tmp_path,
        """
        import sys, torch

        rooms = lambda: [torch.nn, torch.autograd, torch.linalg, torch.fft, torch.distributions]
        rooms()
        called = []
        sys.setprofile(lambda frame, event, given: called.append(frame.f_code.co_name) if event == "call" else None)
        rooms()
        sys.setprofile(None)
        print("_rename" in called, len(called) < 60)
        """,
    )
    assert printed == ["False True"]


def test_a_function_stays_what_it_is_when_its_file_is_imported(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nfrom torch.autograd.gradcheck import gradcheck\nprint(torch.autograd.gradcheck is gradcheck)\n"
    )
    found = subprocess.run([sys.executable, "-m", "funcgrad", str(script)], capture_output=True, text=True, check=True)
    assert found.stdout == "True\n"


STARS = """
from torch import *
from torch.nn.functional import *
from torch.linalg import *
from torch.special import *
from torch.fft import *
print(cat, float32, FloatTensor, save, compile, cross_entropy, relu, eigh, LinAlgError, expit, rfft, fftfreq, sep="\\n")
print("nn" in globals(), "random" in globals())
"""


def test_a_star_takes_what_is_made_at_first_use_too(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(STARS)
    ran = subprocess.run(
        [sys.executable, "-m", "funcgrad", "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    *found, rooms = ran.stdout.splitlines()
    assert len(found) == 12
    assert rooms == "False False"


@pytest.mark.parametrize("room", [torch, torch.linalg, torch.special, torch.fft, torch.functional, torch.nn.functional])
def test_every_name_that_a_star_takes_is_there(room: ModuleType) -> None:
    assert [name for name in room.__all__ if not hasattr(room, name)] == []
    assert set(room.__all__) <= set(dir(room))


def test_rooms_speak_of_themselves_by_torchs_names_where_one_is_misspelt(tmp_path: Path) -> None:
    script = """
    import torch
    from torch import nn, optim

    for room, name in ((nn, "Conv2D"), (optim, "Addam"), (torch.distributions, "Gauss")):
        try:
            getattr(room, name)
        except AttributeError as error:
            print(error)
    print(hasattr(nn, "Conv2d"), hasattr(nn, "Conv2D"))
    """
    assert output_of(tmp_path, script) == [
        "module 'torch.nn' has no attribute 'Conv2D'",
        "module 'torch.optim' has no attribute 'Addam'",
        "module 'torch.distributions' has no attribute 'Gauss'",
        "True False",
    ]


def test_what_is_set_in_torchs_module_is_what_the_functions_there_find(tmp_path: Path) -> None:
    source = """\
import torch._functorch.vmap as steps
import torch._utils as own
import torch
unwrap = steps._unwrap_batched
steps._unwrap_batched = lambda *given: ["ours", unwrap(*given).tolist()]
print(torch.vmap(lambda x: x + 1)(torch.zeros(2)), steps._unwrap_batched is unwrap)
own.number = 3
print(own.number, hasattr(torch, "number"))
"""
    assert output_of(tmp_path, source) == ["['ours', [1.0, 1.0]] False", "3 False"]


def test_torchs_machinery_answers_libraries(tmp_path: Path) -> None:
    source = """\
import torch
from torch._guards import TracingContext, active_fake_mode, detect_fake_mode
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch._utils import _get_available_device_type, _get_device_module
from torch.nn.modules import module
hooks = module._global_parameter_registration_hooks
from torch.nn.parameter import _ParameterMeta
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
x = torch.zeros(4)
print(torch._C._is_alias_of(x, x[1:]), torch._C._is_alias_of(x, x.clone()), active_fake_mode(), detect_fake_mode([x]))
with unset_fake_temporarily() as left:
    print(left, TracingContext.try_get())
try: TracingContext.get()
except RuntimeError as error: print(error)
print(_get_device_module("cpu") is torch.cpu, _get_available_device_type(), type(torch.nn.Parameter) is _ParameterMeta)
with torch.overrides.BaseTorchFunctionMode():
    print(torch._C._is_torch_function_mode_enabled())
print(torch._C._is_torch_function_mode_enabled(), len(hooks))
module.register_module_parameter_registration_hook(lambda *_: None)
print(len(hooks))
class Whole(torch.Tensor):
    def __tensor_flatten__(self): return [], None
    @staticmethod
    def __tensor_unflatten__(inner, meta, size, stride): return Whole(0)
print(is_traceable_wrapper_subclass(Whole(2)), is_traceable_wrapper_subclass(x))
print(torch._C._mps_is_available(), torch._C._mps_is_in_bad_fork(), torch._C._mps_is_on_macos_or_newer(13, 0))
try: _get_device_module("toaster")
except RuntimeError as error: print(error)
"""
    assert output_of(tmp_path, source) == [
        "True False None None", "None None", "TracingContext.get() must be called within an ongoing trace.",
        "True None True", "True", "False 0", "1", "True False", "False False False",
        "Device 'toaster' does not have a corresponding module registered as 'torch.toaster'.",
    ]  # fmt: skip


def test_libraries_find_torchs_parts_by_chains_of_names(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("""\
import torch
join = torch.utils.data._utils.collate.default_collate
def save(pickle_module=torch.serialization.pickle): return pickle_module.__name__
""")
    source = """\
from collections import namedtuple
from library import join, save
import torch, warnings
from torch import ScriptMethod, TensorType
from torch._C import Value
from torch.nn.modules.conv import _ConvNd, _ConvTransposeMixin
from torch.utils.data._utils.pin_memory import pin_memory
print(join([1, 2]), save(), isinstance(save, ScriptMethod), torch.Value is Value)
class Pinned:
    def pin_memory(self): return "pinned"
Pair = namedtuple("Pair", "a b")
print(pin_memory({"a": (Pinned(), 1), "b": [Pair("x", Pinned())]}))
class Turned(_ConvTransposeMixin): pass
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    Turned(1, 1, (2,), (1,), (0,), (1,), True, (0,), 1, True, "zeros")
print(issubclass(Turned, _ConvNd), seen[0].category.__name__)
try: TensorType()
except TypeError as error: print(error)
"""
    assert output_of(tmp_path, source) == [
        "tensor([1, 2]) pickle False True", "{'a': ('pinned', 1), 'b': [Pair(a='x', b='pinned')]}",
        "True FutureWarning", "torch._C.TensorType: No constructor defined!",
    ]  # fmt: skip


def test_nobody_makes_an_object_of_torchscripts_own_classes() -> None:
    for kind in (script_types.ScriptMethod, script_types.ScriptObject, script_types.TensorType, script_types.Value):
        with pytest.raises(TypeError, match=rf"torch\._C\.{kind.__name__}: No constructor defined!"):
            kind()
