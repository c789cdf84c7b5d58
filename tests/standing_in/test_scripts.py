"""A script under `python -m funcgrad` finds all that it would find under Python, and funcgrad in torch's place."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from funcgrad.standing_in.places import VIEWS
from tests.standing_in.running import REPOSITORY, funcgrad, output_of, write


def test_a_script_is_main_as_under_python(tmp_path: Path) -> None:
    source = """
    import pickle, sys, torch
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)
    copy = pickle.loads(pickle.dumps(Net()))
    print(__name__, sys.argv, sys.path[0] == __import__("os").getcwd(), __file__ == sys.path[0] + "/script.py")
    print(type(copy) is Net, sys.modules["__main__"].Net is Net, __spec__)
    """
    words, main = output_of(tmp_path, source, "--epochs", "3")
    assert words == "__main__ ['script.py', '--epochs', '3'] True True"
    assert main == "True True None"


def test_no_view_of_other_rooms_hides_a_room_of_that_name() -> None:
    folder = REPOSITORY / "funcgrad"
    paths = {name: folder.joinpath(*name.split(".")[1:]) for name in VIEWS if name.startswith("torch.")}
    hiding = {name for name, path in paths.items() if path.is_dir() or path.with_suffix(".py").exists()}
    assert hiding == {"torch._tensor"}  # torch's has the class, the room here has more


def test_every_usual_import_leads_to_funcgrad(tmp_path: Path) -> None:
    source = """
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    import torch.backends.cudnn as cudnn
    import torch.distributed as dist
    import torch.multiprocessing as mp
    import torch.utils.model_zoo as model_zoo
    import torch._dynamo
    import torch._inductor.config
    import torchvision, torchvision.models.alexnet
    from torch import Tensor, nn, optim
    from torch.autograd import Function, Variable
    import torch.autograd.forward_ad as fwAD, torch.autograd.functional as AF
    from torch.autograd.functional import hessian
    from torch.cuda.amp import GradScaler, autocast
    from torch.cuda.amp.autocast_mode import custom_fwd
    from torch.nn.modules.conv import _ConvNd
    from torch.nn.modules.loss import _Loss
    from torch.nn.parallel.distributed import DistributedDataParallel
    from torch.nn.parameter import Parameter
    from torch.nn.utils.rnn import pack_padded_sequence
    from torch.optim.lr_scheduler import StepLR, _LRScheduler
    from torch.optim.optimizer import Optimizer
    from torch.utils.data import DataLoader
    from torch.utils.data.dataloader import default_collate
    from torch.utils.data.dataset import Dataset
    from torch.utils.data.distributed import DistributedSampler
    from torch._jit_internal import _copy_to_script_wrapper
    from torch.testing._internal.common_utils import TestCase, make_tensor
    from torchvision import datasets, models, transforms
    from torchvision.models.resnet import BasicBlock
    import funcgrad, sys
    cudnn.benchmark = True
    torch._dynamo.config.suppress_errors = True
    torch._dynamo.mark_static_address(torch.zeros(1))
    torch._inductor.config.coordinate_descent_tuning = True
    print(nn is funcgrad.nn, Tensor is funcgrad.Tensor, F.relu is nn.functional.relu, torch.backends.cudnn.benchmark)
    print(Parameter is nn.Parameter, issubclass(nn.Conv2d, _ConvNd), issubclass(nn.MSELoss, _Loss))
    print(issubclass(optim.SGD, Optimizer), torch._inductor.config.coordinate_descent_tuning, callable(models.alexnet))
    print(isinstance(Variable(torch.ones(1)), Tensor), torch.__version__ >= "2.0", torch.__version__ >= (1, 13))
    print([name for name in sys.modules if name in ("torch._C", "torchvision._C")], "funcgrad" in torch.__file__)
    print(callable(fwAD.dual_level), callable(AF.jacobian) and callable(make_tensor))
    """
    assert output_of(tmp_path, source) == [
        "True True True True", "True True True", "True True True", "True True True", "[] True", "True True",
    ]  # fmt: skip


def test_classes_say_torchs_names_and_are_pickled_by_them(tmp_path: Path) -> None:
    source = """
    import copy, pickle
    import torch
    from torch import nn
    for kind in (torch.Tensor, nn.Linear, nn.Parameter, torch.optim.Adam, torch.dtype, torch.Size):
        print(kind)
    for kind in (torch.optim.lr_scheduler.StepLR, torch.utils.data.DataLoader, torch.autograd.Function):
        print(kind)
    layer = pickle.loads(pickle.dumps(nn.Linear(2, 3)))
    print(type(layer) is nn.Linear, type(copy.deepcopy(layer)) is nn.Linear, torch.Tensor.__module__)
    """
    assert output_of(tmp_path, source) == [
        "<class 'torch.Tensor'>", "<class 'torch.nn.modules.linear.Linear'>", "<class 'torch.nn.parameter.Parameter'>",
        "<class 'torch.optim.adam.Adam'>", "<class 'torch.dtype'>", "<class 'torch.Size'>",
        "<class 'torch.optim.lr_scheduler.StepLR'>", "<class 'torch.utils.data.dataloader.DataLoader'>",
        "<class 'torch.autograd.function.Function'>", "True True torch",
    ]  # fmt: skip


def test_spawned_processes_have_funcgrad_in_torchs_place_too(tmp_path: Path) -> None:
    source = """
    import multiprocessing, sys
    import torch
    def work(x):
        return (torch.ones(2) * x).sum().item(), torch.__version__, "torch._C" in sys.modules
    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(work, [3]))
    """
    assert output_of(tmp_path, source) == ["[(6.0, '2.13.0+funcgrad', False)]"]


def test_safetensors_own_module_reads_and_writes_our_tensors(tmp_path: Path) -> None:
    source = """
    import torch
    from safetensors.torch import load_file, load_model, safe_open, save_file, save_model
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
            self.b.weight = self.a.weight
    first, second = Tied(), Tied()
    save_model(first, "model.safetensors")
    print(load_model(second, "model.safetensors"), torch.equal(second.b.weight, first.a.weight))
    with safe_open("model.safetensors", "pt") as file:
        print(sorted(load_file("model.safetensors")) == sorted(file.keys()), sorted(file.keys()))
    """
    assert output_of(tmp_path, source) == ["([], []) True", "True ['a.bias', 'a.weight', 'b.bias']"]


def test_what_classes_say_of_their_attributes_is_read_where_it_was_written(tmp_path: Path) -> None:
    source = """
    import typing
    import torch
    class Net(torch.nn.Linear):
        config: dict[str, int]
    hints = typing.get_type_hints(Net)
    print(hints["config"], hints["_parameters"])
    print(len(typing.get_type_hints(torch.optim.Adam)) > 0)
    """
    assert output_of(tmp_path, source) == [
        "dict[str, int] dict[str, torch.nn.parameter.Parameter | None]", "True",
    ]  # fmt: skip


def test_safetensors_reads_a_tensor_or_a_part_of_one_out_of_a_file(tmp_path: Path) -> None:
    source = """
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file, storage_ptr, storage_size
    whole = torch.arange(6.0).reshape(2, 3)
    save_file({"w": whole, "half": torch.ones(2, dtype=torch.bfloat16)}, "some.safetensors", {"format": "pt"})
    with safe_open("some.safetensors", framework="pt", device="cpu") as file:
        print(sorted(file.keys()), file.metadata(), file.get_tensor("w").tolist(), file.get_tensor("half"))
        part = file.get_slice("w")
        print(part.get_shape(), part[1:, :2].tolist())
    print(storage_size(whole[0]), storage_ptr(whole[1]) == storage_ptr(whole))
    """
    assert output_of(tmp_path, source) == [
        "['half', 'w'] {'format': 'pt'} [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] tensor([1., 1.], dtype=torch.bfloat16)",
        "[2, 3] [[3.0, 4.0]]", "24 True",
    ]  # fmt: skip


def test_a_missing_part_of_torch_is_an_import_error(tmp_path: Path) -> None:
    source = """
    try:
        import torch.distributed.pipelining
    except ImportError as error:
        print(type(error).__name__, error.name)
    try:
        from torch import no_such_name
    except ImportError as error:
        print("no_such_name" in str(error))
    """
    assert output_of(tmp_path, source) == ["ModuleNotFoundError torch.distributed.pipelining", "True"]


def test_a_traceback_shows_the_users_lines_only(tmp_path: Path) -> None:
    script = """
    import torch
    def step(x):
        return torch.nn.Linear(3, 4)(x)
    step(torch.ones(2, 5))
    """
    write(tmp_path, "script.py", script)
    answer = funcgrad(tmp_path, "script.py")
    lines = answer.stderr.splitlines()
    assert answer.returncode == 1
    assert [line.split(",")[1:] for line in lines if line.startswith("  File")] == [
        [" line 5", " in <module>"], [" line 4", " in step"],
    ]  # fmt: skip
    assert lines[-1].startswith("RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    full = funcgrad(tmp_path, "script.py", FUNCGRAD_TRACEBACK="full").stderr
    assert full.count("  File") > 4


def test_a_scripts_hooks_are_numbered_from_zero(tmp_path: Path) -> None:
    source = """
        import torch
        layer = torch.nn.Linear(1, 1)
        print(layer.register_forward_hook(print).id, layer._forward_hooks)
        optimizer = torch.optim.SGD(layer.parameters(), 0.1)
        print(optimizer.register_step_post_hook(print).id)
    """
    assert output_of(tmp_path, source) == ["0 OrderedDict([(0, <built-in function print>)])", "1"]


def test_the_exit_status_is_the_scripts(tmp_path: Path) -> None:
    write(tmp_path, "leaves.py", "import sys\nsys.exit(3)\n")
    write(tmp_path, "broken.py", "x = (\n")
    assert funcgrad(tmp_path, "leaves.py").returncode == 3
    assert funcgrad(tmp_path, "absent.py").returncode == 2
    broken = funcgrad(tmp_path, "broken.py")
    assert broken.returncode == 1
    assert "SyntaxError" in broken.stderr
    assert "funcgrad" not in broken.stderr


def test_modules_run_with_m(tmp_path: Path) -> None:
    write(tmp_path, "package/__init__.py", "")
    write(tmp_path, "package/__main__.py", "from package.part import name\nprint(name, __package__, __name__)\n")
    write(tmp_path, "package/part.py", "import torch\nname = torch.nn.__name__\n")
    answer = funcgrad(tmp_path, "-m", "package")
    assert answer.stdout.strip() == "funcgrad.nn package __main__", answer.stderr


def test_a_program_may_be_a_string_or_standard_input(tmp_path: Path) -> None:
    program = "import sys, torch; print(torch.ones(2) + 1, sys.argv, sys.path[0] == '', '__file__' in globals())"
    for words, given, arguments in (
        (("-c", program, "-x", "1"), None, ["-c", "-x", "1"]),
        (("-", "3"), program, ["-", "3"]),
        ((), program, [""]),
    ):
        answer = funcgrad(tmp_path, *words, given=given)
        assert answer.stdout.strip() == f"tensor([2., 2.]) {arguments} True False", answer.stderr
    wrong = funcgrad(tmp_path, given="import torch\ntorch.ones(2) + torch.ones(3)\n")
    assert wrong.returncode == 1
    assert [line for line in wrong.stderr.splitlines() if "File" in line] == ['  File "<stdin>", line 2, in <module>']
    assert [funcgrad(tmp_path, *words).returncode for words in (("-c",), ("-q",), ("--check",))] == [2, 2, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is pretended by pty")
def test_without_a_script_there_is_a_prompt(tmp_path: Path) -> None:
    import pty

    typed = "import torch\nx = torch.ones(2) * 3\nx\nx + torch.ones(3)\nexit()\n"
    ours, theirs = pty.openpty()
    os.write(ours, typed.encode())
    with subprocess.Popen(
        [sys.executable, "-m", "funcgrad"], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        cwd=tmp_path, env=os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY)},
    ) as process:  # fmt: skip
        shown, _ = process.communicate(timeout=300)
    os.close(theirs)
    os.close(ours)
    assert "tensor([3., 3.])" in shown
    assert [line for line in shown.splitlines() if "File" in line] == ['  File "<console>", line 1, in <module>']
    assert "RuntimeError: The size of tensor a (2) must match the size of tensor b (3)" in shown
    assert process.returncode == 0


def test_processes_that_a_script_starts_find_funcgrad_too(tmp_path: Path) -> None:
    child = "import torch.nn.functional as F, torch, torchvision; print(torch.__version__, torch.ones(1), F.relu)"
    asking = "from importlib.metadata import version; print(version('torch'), version('torchvision'))"
    source = f"""
    import subprocess, sys
    import torch, torchvision
    print(torch.__version__, torchvision.__version__, flush=True)
    subprocess.run([sys.executable, "-c", {child!r}])
    subprocess.run([sys.executable, "-c", {asking!r}])
    """
    here, there, told = output_of(tmp_path, source)
    assert there.startswith(f"{here.split()[0]} tensor([1.]) <")
    assert told == here


def test_functions_travel_to_processes_with_the_modules_that_they_name(tmp_path: Path) -> None:
    source = """
    import torch
    import torch.utils.data as data
    from joblib import Parallel, delayed

    def summed(i):
        return torch.full((2,), float(i)).sum().item(), len(data.TensorDataset(torch.ones(3)))

    print(Parallel(2)(delayed(summed)(i) for i in range(3)))
    """
    assert output_of(tmp_path, source) == ["[(0.0, 3), (2.0, 3), (4.0, 3)]"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_script_may_fork_processes_that_use_no_tensors(tmp_path: Path) -> None:
    source = """
    import multiprocessing, torch
    print((torch.ones(300, 300) @ torch.ones(300, 300)).sum().item())
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(abs, [-1, 2]))
    """
    write(tmp_path, "script.py", source)
    answer = funcgrad(tmp_path, "script.py", FUNCGRAD_HOST="0")
    assert answer.stdout.splitlines() == ["27000000.0", "[1, 2]"]
    assert answer.stderr == ""


def test_a_notebook_loads_it_as_an_extension(tmp_path: Path) -> None:
    source = """
    import sys
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance(colors="nocolor")
    for cell in (
        "%load_ext funcgrad",
        "import torch; net = torch.nn.Linear(4, 3); torch.ones(2)",
        "net(torch.ones(2, 5))",
        "1 / 0",
        "%unload_ext funcgrad",
        "print('torch' in __import__('sys').modules)",
    ):
        shell.run_cell(cell, silent=False)
    """
    path = write(tmp_path, "notebook.py", source)
    answer = subprocess.run(
        [sys.executable, str(path)], check=False, capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env=os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY), "IPYTHONDIR": str(tmp_path)},
    )  # fmt: skip
    shown = answer.stdout
    assert "tensor([1., 1.])" in shown, answer.stderr
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 4x3)" in shown
    assert "ZeroDivisionError: division by zero" in shown
    assert "funcgrad" not in shown.replace("%load_ext funcgrad", "")
    assert shown.strip().endswith("False")


def test_an_error_names_few_functions_where_funcgrad_is_imported(tmp_path: Path) -> None:
    script = """
    import traceback
    import funcgrad as torch
    def failing():
        raise KeyError("mine")
    def depth(call):
        try:
            call()
        except Exception as error:
            return [frame.name for frame in traceback.extract_tb(error.__traceback__)][1:]
    x = torch.ones(2, 5, requires_grad=True)
    print(depth(lambda: torch.nn.Linear(4, 3)(x)))
    y = x * 2
    y.register_hook(lambda gradient: failing())
    print(depth(lambda: y.sum().backward()))
    """
    path = write(tmp_path, "script.py", script)
    run = functools.partial(subprocess.run, [sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY)}
    forward, backward = run(env=environment).stdout.splitlines()
    assert forward == "['<lambda>', '__call__', 'forward', 'made', 'call', 'apply']"
    assert backward.startswith("['<lambda>', 'backward', ")
    assert backward.endswith("'run', '<lambda>', 'failing']")
    whole = run(env=environment | {"FUNCGRAD_TRACEBACK": "full"}).stdout.splitlines()[0]
    assert whole.startswith(forward[:-1])
    assert len(whole) > len(forward)


def test_install_serves_a_notebook_and_uninstall_ends_it(tmp_path: Path) -> None:
    source = """
    import sys
    import funcgrad
    funcgrad.install()
    funcgrad.install()
    import torch.nn as nn
    from funcgrad.standing_in import is_installed, uninstall
    print(nn is funcgrad.nn, is_installed())
    uninstall()
    print(is_installed(), "torch" in sys.modules)
    import types
    sys.modules["torch"] = types.ModuleType("torch")
    try:
        funcgrad.install()
    except RuntimeError as error:
        print(error)
    """
    path = write(tmp_path, "notebook.py", source)
    answer = subprocess.run(
        [sys.executable, str(path)], check=False, capture_output=True, text=True, timeout=300, cwd=REPOSITORY,
        env={**__import__("os").environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert answer.stdout.splitlines() == [
        "True True", "False False", "install() comes too late: torch is imported already; call it before that import",
    ], answer.stderr  # fmt: skip


SCRIPT_WITH_GAPS = """
import torch
import torch.nn as nn
from torch.quantum import entangle
from torch.nn import Linear, Lineer
from local import part
print("the script runs")
if hasattr(torch, "maybe"):
    torch.maybe()
try:
    torch.perhaps()
except AttributeError:
    pass
def step(torch):
    return torch.of_the_argument()
def train():
    x = nn.functional.softmox(torch.ones(2))
    torch.nn.Linear.whatever_comes_after_a_class
    return torch.optim.Adamant([x])
"""


def test_check_names_all_that_is_missing_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, "script.py", SCRIPT_WITH_GAPS)
    write(tmp_path, "local/__init__.py", "")
    write(tmp_path, "local/part.py", "import torch\ntorch.linalg.no_such_thing\n")
    answer = funcgrad(tmp_path, "--check", "script.py")
    assert answer.returncode == 1
    assert answer.stderr.splitlines() == [
        "local/part.py:2: funcgrad has no torch.linalg.no_such_thing",
        "script.py:4: funcgrad has no torch.quantum.entangle",
        "script.py:5: funcgrad has no torch.nn.Lineer",
        "script.py:17: funcgrad has no torch.nn.functional.softmox",
        "script.py:19: funcgrad has no torch.optim.Adamant",
    ]
    assert answer.stdout == "script.py: 5 missing names\n"


def test_what_is_missing_is_told_before_the_script_starts(tmp_path: Path) -> None:
    write(tmp_path, "script.py", 'import sys, torch\nprint("starts", file=sys.stderr)\ndef later(): torch.nothing()\n')
    lines = funcgrad(tmp_path, "script.py").stderr.splitlines()
    assert lines == ["script.py:3: funcgrad has no torch.nothing", "starts"]


def test_check_is_silent_about_a_whole_script(tmp_path: Path) -> None:
    write(tmp_path, "script.py", "import torch.nn as nn\nnn.Linear(1, 1)\n")
    answer = funcgrad(tmp_path, "--check", "script.py")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "script.py: no missing names\n", "")


def test_check_is_silent_about_what_the_script_puts_there_itself(tmp_path: Path) -> None:
    source = """
    import torch.nn as nn
    from layers import build
    class Masked(nn.Linear): ...
    nn.Masked = Masked
    print(type(build(nn.Masked)).__name__)
    """
    write(tmp_path, "script.py", source)
    write(tmp_path, "layers.py", "from torch import nn\ndef build(kind): return nn.Masked(1, 1)\n")
    answer = funcgrad(tmp_path, "script.py")
    assert (answer.stdout, answer.stderr) == ("Masked\n", "")


def test_jax_stays_out_of_the_log_that_a_script_sets_up(tmp_path: Path) -> None:
    source = """
    import logging, sys, torch
    logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s", level=logging.INFO)
    logging.info("sum %.1f", torch.ones(3).sum())
    """
    assert output_of(tmp_path, source, JAX_PLATFORMS="") == ["INFO sum 3.0"]


def test_parts_of_torch_that_no_file_here_has_are_imported_from_their_package_and_read_as_attributes(
    tmp_path: Path,
) -> None:
    source = """
    import torch.nn.functional as F
    import torch.utils.data
    from torch.nn import _reduction as _Reduction
    from torch.utils import model_zoo
    from torch.utils.checkpoint import get_device_states, set_device_states
    from torch.nn.modules.module import _EXTRA_STATE_KEY_SUFFIX, _addindent
    from torch.utils.data.dataloader import _SingleProcessDataLoaderIter
    print(model_zoo.load_url.__name__, torch.utils.data._utils.collate.default_collate([1, 2]).tolist())
    print(F._Reduction.get_enum("none"), _Reduction.get_enum("sum"), _Reduction.legacy_get_string(None, False, False))
    set_device_states(*get_device_states(torch.ones(2)))
    batches = iter(torch.utils.data.DataLoader([1]))
    print(isinstance(batches, _SingleProcessDataLoaderIter), repr(_addindent("a\\nb", 2)))
    with torch._tensor_str.printoptions(precision=2):
        print(torch.tensor([1 / 3]), _EXTRA_STATE_KEY_SUFFIX)
    from torch.distributed._composable.fsdp import fully_shard
    from torch.distributed.tensor.placement_types import Shard, _StridedShard
    print(isinstance(torch.compile(torch.nn.ReLU()), torch._dynamo.eval_frame.OptimizedModule))
    import funcgrad
    from funcgrad.standing_in import uninstall
    uninstall()
    print(hasattr(funcgrad.utils, "model_zoo"), hasattr(funcgrad.utils.data, "_utils"))
    """
    assert output_of(tmp_path, source) == [
        "load_state_dict_from_url [1, 2]", "0 2 none", "True 'a\\n  b'",
        "tensor([0.33]) _extra_state", "True", "False False",
    ]  # fmt: skip


def test_switches_of_torchs_compiler_are_set_in_groups_and_patched(tmp_path: Path) -> None:
    source = """
    import torch
    import torch._dynamo.config
    import torch._inductor.config
    torch._inductor.config.coordinate_descent_tuning = True
    torch._inductor.config.triton.unique_kernel_names = True
    print(torch._inductor.config.triton.unique_kernel_names, torch._dynamo.config.suppress_errors)
    with torch._dynamo.config.patch(suppress_errors=True):
        print(torch._dynamo.config.suppress_errors)
    """
    assert output_of(tmp_path, source) == ["True False", "True"]


def test_an_anomaly_is_told_with_the_lines_of_the_script_alone(tmp_path: Path) -> None:
    source = """
    import torch
    def root(x):
        return torch.sqrt(x).sum()
    with torch.autograd.detect_anomaly():
        root(torch.tensor([-1.0], requires_grad=True)).backward()
    """
    write(tmp_path, "script.py", source)
    answer = funcgrad(tmp_path, "script.py")
    told, _, error = answer.stderr.partition("Traceback (most recent call last)")
    assert [line.split(",")[1:] for line in told.splitlines() if line.startswith("  File")] == [
        [" line 6", " in <module>"], [" line 4", " in root"],
    ]  # fmt: skip
    assert "script.py:6: UserWarning: Error detected in SqrtBackward0." in told
    assert error.rstrip().endswith("Function 'SqrtBackward0' returned nan values in its 0th output.")


def test_names_that_training_frameworks_import(tmp_path: Path) -> None:
    source = """
    import torch
    from torch import ScriptModule
    from torch._C import _TensorMeta
    from torch.autograd.profiler import EventList, profile
    from torch.distributed.constants import default_pg_timeout
    from torch.distributed import ReduceOp
    print(issubclass(ScriptModule, torch.nn.Module), type(torch.Tensor) is _TensorMeta, default_pg_timeout)
    print(isinstance(ReduceOp.SUM, ReduceOp.RedOpType), ReduceOp.RedOpType.SUM == ReduceOp.SUM)
    with profile() as measured:
        print(torch.autograd._profiler_enabled(), type(measured.function_events) is EventList)
    print(torch.autograd._profiler_enabled())
    parse = torch._C._nn._parse_to
    print(parse("cpu"), parse(torch.ones(1).double()))
    print(parse("cpu", torch.float16, True), parse(memory_format=torch.channels_last))
    """
    assert output_of(tmp_path, source) == [
        "True True 0:30:00", "True True", "True True", "False",
        "(device(type='cpu'), None, False, None) (device(type='cpu'), torch.float64, False, None)",
        "(device(type='cpu'), torch.float16, True, None) (None, None, False, torch.channels_last)",
    ]  # fmt: skip


def test_what_libraries_ask_of_torchs_inside_has_an_answer(tmp_path: Path) -> None:
    source = """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor, is_fake
    from torch.fx.experimental.proxy_tensor import get_proxy_mode
    from torch.serialization import DEFAULT_PROTOCOL
    print(torch.torch is torch, is_fake(torch.zeros(2)), isinstance(torch.zeros(2), FakeTensor), get_proxy_mode())
    print(isinstance(torch.zeros(2), torch._C.Value))
    print(DEFAULT_PROTOCOL, torch._C._is_tracing(), torch._C._are_functorch_transforms_active())
    def square(x):
        print(torch._C._are_functorch_transforms_active())
        return x * x
    torch.vmap(square)(torch.ones(2)), torch.func.grad(square)(torch.tensor(1.0))
    torch.func.jvp(square, (torch.ones(2),), (torch.ones(2),))
    with torch.backends.__allow_nonbracketed_mutation():
        torch.backends.cudnn.deterministic = True
    print(torch.backends.cudnn.deterministic)
    """
    assert output_of(tmp_path, source) == ["True False False None", "False", "2 False False", *["True"] * 4]


def test_parts_of_pythons_packages_that_torch_loads_need_no_import_of_their_own(tmp_path: Path) -> None:
    source = """
    import concurrent, multiprocessing, urllib
    import torch

    print(concurrent.futures.Future.__name__, multiprocessing.connection.Connection.__name__)
    print(urllib.request.Request("https://pytorch.org").host, urllib.error.URLError.__name__)
    """
    assert output_of(tmp_path, source) == ["Future Connection", "pytorch.org URLError"]
