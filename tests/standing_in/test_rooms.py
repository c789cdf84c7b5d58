"""Rooms that are imported when asked for tell what goes wrong inside of them; what they give is known by its names."""

from __future__ import annotations

import sys
import typing
from pathlib import Path

import pytest

import funcgrad as torch
from funcgrad._base.rooms import imported
from tests.standing_in.running import output_of


def test_an_attribute_that_lacks_inside_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "room_that_fails.py").write_text("import math\nmath.no_such_name\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError, match=r"importing room_that_fails failed: .*no attribute 'no_such_name'"):
        imported("room_that_fails")
    assert "room_that_fails" not in sys.modules


def test_the_hints_of_tensors_can_be_read() -> None:
    assert "_variable" not in typing.get_type_hints(torch.Tensor)
    assert "_variable" not in typing.get_type_hints(torch.nn.Parameter)


@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_a_shape_is_a_tensor(shape: tuple[int, ...]) -> None:
    found = torch._shape_as_tensor(torch.ones(shape))
    assert (found.tolist(), found.dtype) == (list(shape), torch.int64)


def test_names_of_torchs_own_that_libraries_import(tmp_path: Path) -> None:
    printed = output_of(
        tmp_path,
        """
        import torch
        from torch._logging import set_logs
        from torch._utils import _get_device_index
        from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
        from torch.functional import has_torch_function
        from torch.hub import tqdm
        from torch.optim.adam import Adam, adam

        set_logs(graph_breaks=True)
        print(_get_device_index("cuda:1"), _get_device_index("cpu", allow_cpu=True), _get_device_index(3))
        for device in ("cpu", None):
            try:
                _get_device_index(device)
            except ValueError as error:
                print(error)
        print(has_torch_function((torch.ones(1),)), callable(tqdm), adam.__name__, Adam.__name__)
        killed, failed = ProcessFailure(0, 12, -9, "/none"), ProcessFailure(1, 13, 1, "/none")
        killed.timestamp, failed.timestamp = 100, 50
        lines = str(ChildFailedError("train.py", {0: killed, 1: failed})).splitlines()
        print(*(line for line in lines if "host" not in line and "time" not in line), sep="\\n")
        """,
    )
    told = [line.strip() for line in printed if line.strip()]
    assert told[:4] == [
        "1 -1 3",
        "Expected a non cpu device, but got: cpu",
        "Expected a torch.device with a specified index or an integer, but got:None",
        "False True adam Adam",
    ]
    assert set(told[4]) == {"="}
    assert told[5] == "train.py FAILED"
    assert told[7:14] == [
        "Failures:", "[0]:", "rank      : 0 (local_rank: 0)", "exitcode  : -9 (pid: 12)  (SIGKILL)",
        "error_file: <N/A>", "traceback : Signal 9 (SIGKILL) received by PID 12", told[6],
    ]  # fmt: skip
    assert told[14] == "Root Cause (first observed failure):"
    assert "traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html" in told
