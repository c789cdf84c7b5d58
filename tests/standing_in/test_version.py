"""torch.__version__ compares as scripts compare it."""

from __future__ import annotations

from pathlib import Path

import pytest

from funcgrad.version import TorchVersion, __version__
from tests.standing_in.running import output_of


@pytest.mark.parametrize("lower", ["1.4", "1.13.1", "2.9", (1, 8), (2, 0, 0), "2.2.0+cu118"])
def test_numbers_decide_not_letters(lower: object) -> None:
    assert __version__ > lower
    assert __version__ >= lower
    assert __version__ != lower
    assert not __version__ < lower
    assert not __version__ <= lower


def test_a_version_is_a_text_that_parses() -> None:
    assert [int(part) for part in __version__.split("+")[0].split(".")] == [2, 13, 0]
    assert TorchVersion("2.13.0+cpu") == "2.13.0"
    assert TorchVersion("2.13.0+cpu") != "2.13.0+funcgrad"
    assert {__version__: 1}[str(__version__)] == 1


def test_libraries_are_told_that_torch_is_installed(tmp_path: Path) -> None:
    source = """
    import importlib.metadata, importlib.util
    print(importlib.util.find_spec("torch").name, importlib.util.find_spec("torch.nn").name)
    import torch
    print(importlib.metadata.version("torch") == importlib.metadata.version("Torch") == torch.__version__)
    print(importlib.metadata.distribution("torch").metadata["Name"], importlib.metadata.requires("torch"))
    print("torch" in importlib.metadata.packages_distributions()["torch"])
    print([d.version for d in importlib.metadata.distributions(name="torch")][:1])
    import torchvision
    print(importlib.metadata.version("torchvision") == torchvision.__version__)
    print(importlib.metadata.version("numpy") == __import__("numpy").__version__)
    """
    assert output_of(tmp_path, source) == [
        "torch torch.nn", "True", "torch None", "True", "['2.13.0+funcgrad']", "True", "True",
    ]  # fmt: skip


def test_metadata_of_torch_goes_when_funcgrad_stands_in_no_more(tmp_path: Path) -> None:
    source = """
    import importlib.metadata
    from funcgrad.standing_in import uninstall
    uninstall()
    found = [d.version for d in importlib.metadata.distributions(name="torch")]
    print([version for version in found if "funcgrad" in version])
    """
    assert output_of(tmp_path, source) == ["[]"]
