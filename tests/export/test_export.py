"""torch.export gives PyTorch's graphs of aten's functions, and programs that compute what the module does."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.export import Dim, ExportedProgram, export, load, save
from tests.export.cases import CALLS, graph_of, nets, texts_of

RECORDED = json.loads((Path(__file__).parent / "recorded" / "graphs.json").read_text())
NETS = nets(torch)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_a_call_is_written_as_torch_writes_it(call: str) -> None:
    assert graph_of(torch, call) == RECORDED["calls"][call]


@pytest.mark.parametrize("name", NETS)
def test_a_net_is_told_of_as_torchs(name: str) -> None:
    told = texts_of(torch, NETS[name])
    for what, text in RECORDED["nets"][name].items():
        assert told[what] == text


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore")
def test_the_record_is_what_torch_exports_now() -> None:
    theirs = pytest.importorskip("torch", minversion="2.13")
    assert {name: texts_of(theirs, net) for name, net in nets(theirs).items()} == RECORDED["nets"]


@pytest.mark.parametrize("name", NETS)
def test_a_program_computes_what_the_module_does(name: str) -> None:
    module, args, kwargs = NETS[name]
    before = [x.clone() for x in module.state_dict().values()]
    program = export(module, args, kwargs)
    for x, y in zip(before, module.state_dict().values(), strict=True):
        assert torch.equal(x, y)
    torch.manual_seed(1)
    found = torch.utils._pytree.tree_leaves(program.module()(*args, **kwargs))
    torch.manual_seed(1)
    for x, y in zip(found, torch.utils._pytree.tree_leaves(module(*args, **kwargs)), strict=True):
        torch.testing.assert_close(x, y)


def small() -> ExportedProgram:
    return export(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), (torch.ones(2, 4),))


def test_it_trains_the_modules_own_parameters() -> None:
    layer = nn.Linear(4, 3)
    program = export(layer, (torch.ones(2, 4),))
    assert program.state_dict["weight"] is layer.weight
    program.module()(torch.ones(2, 4)).sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[2.0] * 4] * 3


def test_what_it_cannot_be_called_with_is_refused_in_torchs_words() -> None:
    program = small()
    module = program.module()
    with pytest.raises(AssertionError, match=r"^Guard failed: input\.size\(\)\[0\] == 2$"):
        module(torch.ones(3, 4))
    with pytest.raises(ValueError, match=r"^Trying to flatten user inputs with exported input tree spec: \nTreeSpec"):
        module()
    with pytest.raises(RuntimeError, match=r"^Unable to call ExportedProgram directly"):
        program(torch.ones(2, 4))
    with pytest.raises(NotImplementedError, match=r"^Calling eval\(\) is not supported yet\.$"):
        module.eval()
    assert program.module(check_guards=False)(torch.ones(3, 4)).shape == (3, 3)
    nested = export(*NETS["nested"])
    with pytest.raises(AssertionError, match=r"^Guard failed: k == 3$"):
        nested.module()(*NETS["nested"][1], k=4, z=None)


def test_what_cannot_be_exported_is_refused() -> None:
    class Asking(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x

    class Unseen(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.GRUCell(2, 2)(x)

    given: Any = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"^Could not guard on data-dependent expression"):
        export(Asking(), (given,))
    with pytest.raises(NotImplementedError, match=r"was computed by a call that is not seen here"):
        export(Unseen(), (torch.ones(1, 2, requires_grad=True),))
    with pytest.raises(RuntimeError, match=r"^Expecting `args` to be a tuple of example positional inputs, got <class"):
        export(Asking(), given)
    with pytest.raises(ValueError, match=r"^Expected `mod` to be an instance of `torch.nn.Module`, got"):
        export(Asking().forward, (given,))  # type: ignore[arg-type]  # as scripts try
    with pytest.raises(NotImplementedError, match=r"sizes are constants of a graph here"):
        export(nn.ReLU(), (given,), dynamic_shapes=({0: Dim("batch")},))
    with pytest.raises(NotImplementedError, match=r"^run_decompositions"):
        small().run_decompositions()


def test_dims_are_written_as_torchs() -> None:
    assert [str(Dim("batch")), str(Dim("b", min=2, max=8)), str(Dim.AUTO)] == [
        "Dim('batch', min=0)",
        "Dim('b', max=8)",
        "DimHint(AUTO)",
    ]


def test_a_program_is_saved_and_read() -> None:
    program, file = small(), io.BytesIO()
    save(program, file, extra_files={"notes": "hello"})
    file.seek(0)
    texts = {"notes": ""}
    again = load(file, extra_files=texts)
    assert texts == {"notes": "hello"}
    assert str(again) == str(program)
    assert torch.equal(again.module()(torch.ones(2, 4)), program.module()(torch.ones(2, 4)))
    with pytest.raises(TypeError, match=r"^The 'ep' parameter must be an instance of 'ExportedProgram'"):
        save(3, file)  # type: ignore[arg-type]  # as torch refuses it
    file = io.BytesIO()
    torch.save({}, file)
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"was not written by torch.export.save"):
        load(file)


@pytest.mark.xfail(strict=True, raises=NotImplementedError, reason="sizes are numbers while a module runs")
def test_a_program_holds_for_other_sizes() -> None:
    program = export(nn.ReLU(), (torch.ones(2, 3),), dynamic_shapes=({0: Dim("rows")},))
    assert program.module()(torch.ones(4, 3)).shape == (4, 3)


@pytest.mark.xfail(strict=True, raises=NotImplementedError, reason="torch's core table of decompositions is not here")
def test_a_program_is_decomposed() -> None:
    assert "torch.ops.aten.addmm.default" in str(export(nn.Linear(2, 3), (torch.ones(1, 2),)).run_decompositions())


@pytest.mark.xfail(strict=True, raises=NotImplementedError, reason="modes are not told of cells")
def test_a_cell_made_inside_is_exported() -> None:
    class Made(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.GRUCell(2, 2)(x)

    assert export(Made(), (torch.ones(1, 2, requires_grad=True),)).module()(torch.ones(1, 2)).shape == (1, 2)
