"""Live exchange with torch: whatever it saves loads here, and whatever we save it loads with weights_only=True."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import nn, serialization
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.parameter import Parameter
from tests.serialization.described import described

pytestmark = pytest.mark.parity
serialization.register_parameter(Parameter)

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")
KEYS = st.one_of(st.text(max_size=8), st.integers(), st.tuples(st.integers(), st.booleans()))
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20), st.binary(max_size=20),
    st.builds(complex, st.floats(allow_nan=False), st.floats(allow_nan=False)), st.sets(st.integers(), max_size=3),
)  # fmt: skip


def recorder() -> Any:
    return pytest.importorskip("tests.serialization.record", reason="needs torch")


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4), st.tuples(inner, inner)
        ),
        max_leaves=12,
    )


@st.composite
def torch_tensors(draw: st.DrawFn) -> Any:
    """Draw a tensor: of any dtype and shape, perhaps a strided, expanded or shared view."""
    torch = recorder().torch
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    tensor = torch.arange(int(np.prod(shape))).reshape(shape).to(getattr(torch, draw(st.sampled_from(DTYPES))))
    for change in draw(
        st.lists(st.sampled_from(["t", "half", "select", "expand", "conj", "twice", "leaf"]), max_size=3)
    ):
        if change == "t" and tensor.ndim > 1:
            tensor = tensor.transpose(0, -1)
        elif change == "half" and tensor.ndim:
            tensor = tensor[::2]
        elif change == "select" and tensor.ndim and len(tensor):
            tensor = tensor[-1]
        elif change == "expand":
            tensor = tensor.expand(3, *tensor.shape)
        elif change == "conj":
            tensor = tensor.conj()
        elif change == "leaf" and tensor.is_floating_point():
            tensor = tensor.detach().requires_grad_()
    return tensor


@settings(max_examples=50, deadline=None)
@given(st.data(), st.booleans())
def test_what_torch_saves_loads_here(data: st.DataObject, new_format: bool) -> None:
    record = recorder()
    saved = data.draw(nested(st.one_of(PLAIN, torch_tensors())))
    both = [saved, saved]
    file = io.BytesIO()
    record.torch.save(both, file, _use_new_zipfile_serialization=new_format)
    file.seek(0)
    loaded = serialization.load(file)
    assert described(loaded) == record.described(both)
    if isinstance(saved, (list, dict, record.torch.Tensor)):
        assert loaded[0] is loaded[1]


@settings(max_examples=50, deadline=None)
@given(st.data(), st.booleans())
def test_what_we_save_loads_in_torch(data: st.DataObject, new_format: bool) -> None:
    record = recorder()
    made = data.draw(nested(st.one_of(PLAIN, torch_tensors())))
    through = io.BytesIO()
    record.torch.save(made, through)
    through.seek(0)
    ours = serialization.load(through)
    file = io.BytesIO()
    serialization.save(ours, file, _use_new_zipfile_serialization=new_format)
    file.seek(0)
    assert record.described(record.torch.load(file, weights_only=True)) == record.described(made)


@pytest.mark.parametrize("make", ["of_every_dtype", "of_every_layout", "containers", "training_state"])
@pytest.mark.parametrize("mmap", [True, False])
def test_our_copy_of_a_file_is_torchs(make: str, mmap: bool, tmp_path: Any) -> None:
    record = recorder()
    made = getattr(record, make)()
    record.torch.save(made, tmp_path / "theirs.pt")
    serialization.save(serialization.load(tmp_path / "theirs.pt"), tmp_path / "ours.pt")
    back = record.torch.load(tmp_path / "ours.pt", weights_only=True, mmap=mmap)
    assert record.described(back) == record.described(made)
    for name in {"base", "again", "part", "flipped", "column", "expanded"} & made.keys():
        assert back[name].stride() == made[name].stride()


def test_a_whole_module_of_ours_loads_in_torch() -> None:
    torch = recorder().torch
    ours = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.ReLU(), nn.Dropout())
    file = io.BytesIO()
    serialization.save(ours, file)
    file.seek(0)
    theirs = torch.load(file, weights_only=False)
    assert repr(theirs) == repr(ours)
    assert recorder().described(dict(theirs.state_dict())) == described(dict(ours.state_dict()))
    assert theirs(torch.ones(2, 3)).shape == (2, 2)


def test_ties_are_tied_in_torch() -> None:
    torch = recorder().torch
    base = from_host(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    views: dict[str, Tensor] = {
        "base": base, "same": base, "row": base[1], "turned": base.t(), "flat": base.view(-1), "slice": base[:, 1:],
        "step": base[:, ::2], "diagonal": base.diagonal(), "expanded": base[:, :1].expand(2, 4),
        "detached": base.detach(),
        "unsqueezed": base.unsqueeze(1).squeeze(1), "split": base.split(1)[1], "permuted": base.permute(1, 0),
        "narrowed": base.narrow(1, -2, 2), "parameter": Parameter(base), "strided": base.as_strided((2, 2), (1, 2), 1),
    }  # fmt: skip
    file = io.BytesIO()
    serialization.save(views, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=True)
    assert loaded["base"] is loaded["same"]
    assert len({tensor.untyped_storage().data_ptr() for tensor in loaded.values()}) == 1
    expected = {name: described(view) for name, view in views.items()}
    assert {name: recorder().described(tensor) for name, tensor in loaded.items()} == expected
