"""What is decided otherwise where programs run on a GPU: precision, random numbers, what the host does."""

from __future__ import annotations

import ast
import subprocess
import sys
from types import SimpleNamespace

import pytest

import funcgrad as torch

TRAINING = """
import json
import funcgrad as torch
from funcgrad import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 2)).to(DEVICE)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(8, 1, 6, 6), torch.randint(0, 2, (8,)))
losses = []
for _ in range(3):
    for x, y in torch.utils.data.DataLoader(data, 4, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(DEVICE)), y.to(DEVICE))
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 4))
print(loss.device, json.dumps(losses))
"""


def output(script: str, *, on_gpu: bool = True) -> str:
    """Return what a script prints, where there is a GPU or there is none."""
    whole = ("import tests.program.pretended\n" if on_gpu else "") + script
    found = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def test_a_net_and_the_order_of_its_data_are_the_same_as_on_a_cpu() -> None:
    on_cpu = output(TRAINING.replace("DEVICE", "'cpu'"), on_gpu=False)
    on_gpu = output(TRAINING.replace("DEVICE", "'cuda'"))
    assert on_cpu.startswith("cpu [") and on_gpu == on_cpu.replace("cpu", "cuda:0")


@pytest.mark.parametrize(
    ("drawn", "is_torchs"),
    [
        ("torch.rand(2)", True),
        ("torch.empty(2).uniform_()", True),
        ("torch.rand(2, out=torch.empty(2))", True),
        ("torch.rand(2, device='cpu')", True),
        ("torch.rand(2, device='cuda')", False),
        ("torch.rand_like(torch.empty(2, device='cuda'))", False),
        ("torch.rand(2, generator=torch.Generator('cuda'))", False),
    ],
)
def test_what_names_no_device_has_the_numbers_of_torchs_cpu(drawn: str, is_torchs: bool) -> None:
    printed = output(f"import funcgrad as torch\ntorch.manual_seed(0)\nx = {drawn}\nprint(x.device.type, x.tolist())")
    device, numbers = printed.split(" ", 1)
    assert device == ("cpu" if "'cpu'" in drawn else "cuda")
    assert numbers.startswith("[0.49625658988952637, 0.7682217955589294]") is is_torchs


def test_what_the_host_has_is_done_there_until_a_gradient_is_wanted() -> None:
    script = """
import funcgrad as torch
from funcgrad._program.counters import counters

x = (torch.arange(12.0).reshape(3, 4) - 5) / 2
print(x.mean(0).tolist(), x[1:].max().item(), torch.stack([x, x]).shape, counters.compiles)
torch.ones(3, requires_grad=True)
print(torch.relu(x * 2).sum().item(), counters.compiles)
"""
    assert output(script).splitlines() == ["[-0.5, 0.0, 0.5, 1.0] 3.0 torch.Size([2, 3, 4]) 0", "21.0 1"]


@pytest.mark.parametrize(
    ("asked", "of_matrices", "of_convolutions"),
    [
        ("pass", "HIGHEST", "DEFAULT"),
        ("torch.backends.cudnn.allow_tf32 = False", "HIGHEST", "HIGHEST"),
        ("torch.backends.cudnn.conv.fp32_precision = 'ieee'", "HIGHEST", "HIGHEST"),
        ("torch.backends.cuda.matmul.allow_tf32 = True", "HIGH", "DEFAULT"),
        ("torch.backends.fp32_precision = 'tf32'", "HIGH", "DEFAULT"),
        (
            "torch.set_float32_matmul_precision('high'); torch.set_float32_matmul_precision('highest')",
            "HIGHEST",
            "DEFAULT",
        ),
    ],
)
def test_products_are_as_precise_as_torch_has_them(asked: str, of_matrices: str, of_convolutions: str) -> None:
    script = f"""
import re
import jax
import funcgrad as torch

def precision(function, *shapes):
    traced = str(jax.make_jaxpr(function)(*map(jax.numpy.ones, shapes)))
    return re.search(r"precision=[(]?(?:Precision[.])?([A-Z]+)", traced)[1]

torch.ones(2).tolist()
{asked}
print(precision(torch.mm, (2, 2), (2, 2)), precision(torch.conv2d, (1, 1, 4, 4), (1, 1, 3, 3)))
"""
    assert output(script) == f"{of_matrices} {of_convolutions}"


def test_another_precision_is_another_program() -> None:
    script = """
import funcgrad as torch
from funcgrad._program.counters import counters

layer = torch.nn.Conv2d(1, 1, 3)

def look():
    return layer(torch.ones(1, 1, 8, 8)).sum().item()

found = [look(), look(), counters.compiles]
torch.backends.cudnn.allow_tf32 = False
print(found[0] == look(), counters.compiles - found[2], look() == found[0], counters.compiles - found[2])
"""
    assert output(script) == "True 1 True 1"


def test_a_gpu_is_not_asked_to_try_every_tiling() -> None:
    script = "from funcgrad._program.compiling import options_for\nprint(options_for([]))"
    assert output(script) == "{'xla_gpu_enable_triton_gemm': False}"
    named = "import os\nos.environ['XLA_FLAGS'] = '--xla_gpu_enable_triton_gemm=true'\n"
    assert output(named + script, on_gpu=False) == output(script, on_gpu=False) == "{}"
    assert output(script + "\n" + named + script.splitlines()[1]).splitlines()[1] == "{}"


@pytest.mark.parametrize(("told", "version"), [("PJRT C API\ncuda 13010", "13.1"), ("rocm 60400", None)])
def test_the_version_of_cuda_is_xlas(told: str, version: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = SimpleNamespace(client=SimpleNamespace(platform_version=told))
    monkeypatch.setattr(torch.version, "available", lambda kind: (gpu,) if kind == "cuda" else ())
    assert torch.version.cuda == version


def test_what_a_script_keeps_on_the_cpu_does_not_draw_the_training_there() -> None:
    script = """
from tests.program.pretended import GPU
import funcgrad as torch
from funcgrad._program.record import numbers_of

model = torch.nn.Linear(3, 2).to("cuda")
optimizer = torch.optim.Adam(model.parameters(), 0.1)
seen, count = torch.zeros(2, device="cpu"), torch.zeros((), device="cpu")
chosen = torch.tensor([0, 1, 1], device="cpu")
for i in range(3):
    seen = seen * 0.9 + i
    count = count + 1
    loss = model(torch.randn(4, 3, device="cuda"))[:, chosen].pow(2).mean() * count
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen += loss.detach().cpu()
trained = [model.weight, model.weight.grad, optimizer.state[model.weight]["exp_avg"]]
print([numbers_of(x._current().value).devices() == {GPU} for x in trained], loss.device, seen.device, count.device)
"""
    assert output(script) == "[True, True, True] cuda:0 cpu cpu"


def test_what_is_written_into_a_tensor_comes_to_where_it_is() -> None:
    script = """
import io
import funcgrad as torch

model, saved = torch.nn.Linear(3, 2).cuda(), io.BytesIO()
torch.save(model.state_dict(), saved)
saved.seek(0)
held = torch.load(saved, map_location="cpu")
model.load_state_dict(held)
x = torch.randn(2, 3, device="cuda")
x[0] = torch.ones(3, device="cpu")
print(held["weight"].device, model.weight._current().value.aval.placement, x.device, x[0].tolist())
"""
    assert output(script) == "cpu None cuda:0 [1.0, 1.0, 1.0]"


def test_a_net_on_two_devices_trains_on_both() -> None:
    script = """
import funcgrad as torch
from funcgrad._program.record import numbers_of

first, second = torch.nn.Linear(3, 4).to("cuda"), torch.nn.Linear(4, 2).to("cpu")
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], 0.1, momentum=0.9)
for _ in range(3):
    optimizer.zero_grad()
    loss = second(torch.relu(first(torch.ones(5, 3, device="cuda"))).to("cpu")).sum()
    loss.backward()
    optimizer.step()
where = [x.device.type for x in (first.weight, first.weight.grad, second.weight, second.weight.grad)]
arrays = [numbers_of(x._current().value) for x in (first.weight, second.weight)]
print(loss.device, *where, [next(iter(array.devices())).id for array in arrays])
"""
    assert output(script) == "cpu cuda cuda cpu cpu [0, 1]"


def test_a_call_that_is_not_recorded_leaves_no_device_behind() -> None:
    script = """
import numpy as np
import funcgrad as torch

edges = torch.from_numpy(np.array([[0, 1, 2, 5], [1, 2, 3, 4]]))
for _ in range(3):
    rows, columns = edges
    support = torch.ones(6, 3, device="cpu") @ torch.nn.Parameter(torch.ones(3, 2, device="cpu"))
    found = support.index_select(0, rows) * torch.full((4,), 2.0, device="cpu").view(-1, 1)
    summed = torch.zeros_like(support).index_add_(0, columns, found)
summed.sum().backward()
print(summed.tolist())
"""
    assert output(script) == "[[0.0, 0.0], [6.0, 6.0], [6.0, 6.0], [6.0, 6.0], [6.0, 6.0], [0.0, 0.0]]"


def test_old_names_of_types_name_no_device() -> None:
    script = """
import funcgrad as torch

x = torch.FloatTensor([1, 2])
layer = torch.nn.utils.skip_init(torch.nn.Linear, 2, 2)
print(x.device, x.type(), isinstance(x, torch.FloatTensor), isinstance(x, torch.cuda.FloatTensor))
print(x.to(torch.float64).type(torch.FloatTensor).device, layer.weight.device)
"""
    assert output(script).splitlines() == ["cuda:0 torch.cuda.FloatTensor True True", "cuda:0 cuda:0"]


def test_a_text_that_is_drawn_on_the_gpu_is_not_compiled_for_each_length() -> None:
    script = """
import funcgrad as torch
from funcgrad._program.counters import counters

torch.manual_seed(0)
PLACES = 32
tokens, places, head = torch.nn.Embedding(9, 8), torch.nn.Embedding(PLACES, 8), torch.nn.Linear(8, 9)
mix = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()

@torch.no_grad()
def written(count):
    text = torch.zeros(1, 1, dtype=torch.long, device="cuda")
    for _ in range(count):
        read = text[:, -PLACES:]
        x = tokens(read) + places.weight[: read.shape[1]]
        chances = torch.softmax(head(mix(x))[:, -1], -1)
        text = torch.cat((text, torch.multinomial(chances, 1)), 1)
    return text.tolist()[0]

written(6)
before = counters.compiles
print(len(written(30)), counters.compiles - before)
"""
    assert output(script) == "31 1"  # what is joined last, which nothing reads but `tolist`


def test_turns_of_a_loop_are_compiled_whole_where_numpy_runs_none() -> None:
    script = """
import funcgrad as torch
from funcgrad._program.counters import counters

cell, head = torch.nn.GRUCell(4, 4), torch.nn.Linear(4, 3)
state, loss = torch.zeros(2, 4, device=DEVICE), 0.0
for _ in range(6):
    read = torch.softmax(head(state), -1)
    state = cell(torch.cat([read, read.sum(-1, keepdim=True)], -1), state)
    loss = loss + torch.nn.functional.cross_entropy(head(state), torch.tensor([1, 2], device=DEVICE))
loss.backward()
cell.weight_ih.grad.sum().item()
print(counters.compiles, counters.parts, "at a time" in torch.explain.compiles()[-1].reason)
"""
    assert output(script.replace("DEVICE", "'cuda'")) == "1 0 False"
    assert output(script.replace("DEVICE", "'cpu'"), on_gpu=False) == "1 0 True"


def test_the_state_of_the_gpus_generator_is_kept_by_its_module() -> None:
    script = """
import funcgrad as torch

(state,) = torch.cuda.random.get_rng_state_all()
first = torch.rand(2, device="cuda").tolist()
torch.cuda.random.set_rng_state_all([state])
print(torch.rand(2, device="cuda").tolist() == first != torch.rand(2, device="cuda").tolist())
"""
    assert output(script) == "True"


def test_what_lies_here_and_there_gives_what_it_gives_on_one_device() -> None:
    script = "from tests.fuzz.devices import outcomes\nprint(outcomes(list(range(12))))"
    mixed, alone = (ast.literal_eval(output(script, on_gpu=on_gpu)) for on_gpu in (True, False))
    assert len(mixed) == 12 and all(len(one) >= 54 for one in mixed)
    for one, other in zip(mixed, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-5)
