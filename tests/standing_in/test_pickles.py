"""What PyTorch wrote by plain pickling, as joblib and multiprocessing do it, is read in torch's place."""

from __future__ import annotations

from pathlib import Path

from tests.standing_in.running import output_of

# torch 2.13: pickle.dumps({"w": arange(6.0).reshape(2, 3)[:, 1], "p": Parameter(tensor([1, 2.5], dtype=float64))})
BY_TORCH = (
    "c-qyGJxjwt7=V*YY@yZ<baHcyOQ|&#ofIi9!S5xD9BFcz$eGJsE=q+$mf{E5JU0hN|C*blf`f0Hf(rcu9{2g?;k|pG<mS@{(nhVXtU|w5MO`xC"
    "hYg&`h^DGoz=CwMhz3}aIAsD~wbUb^GbNV7;++#!%wx*D0G|nViMu^XQlNGgbxq6BLydkt?|v>{ydEw!a<unmz})AW<<7&siC~iXjN&UI(ul=e"
    "2f&?yFEo;p5=`PC@?wte+!_RBFCjRMZb-_FJ~u6Q3W90Kgyd5Wat$~|vE&uUbj@K77N7H~V`drLX}Q%QTt1m={-}i7E<9YGl))O;-C1BZ?Phy*"
    "y=8B<?X`A`mwEjp<Azh&m)typY^PkC#Ohw7qWy097EIgFVdOAgw$(r#D@S+GKsm-h-51kPKPA3|@<I9Zfe45oK_~JhSX?<)68J(-REU24kHiz+"
    "C6Pn`6Pi|7-KqZv-5r*7DVgNEy|!W7>#gR-AKz%A?;jR?qd&gix60KVd)7vtb?_X{ja}Z2cDJz08sF)Z;0^"
)


def test_a_plain_pickle_of_torchs_tensors_is_read(tmp_path: Path) -> None:
    source = f"""
    import base64, pickle, zlib
    found = pickle.loads(zlib.decompress(base64.b85decode({BY_TORCH!r})))
    print(found["w"])
    print(found["p"])
    """
    assert output_of(tmp_path, source) == [
        "tensor([1., 4.])", "Parameter containing:",
        "tensor([1.0000, 2.5000], dtype=torch.float64, requires_grad=True)",
    ]  # fmt: skip


def test_whole_objects_are_saved_under_torchs_names_and_read_again(tmp_path: Path) -> None:
    source = """
    import io
    import torch
    from torch import nn, optim
    from torch.utils.data import Subset, TensorDataset

    model = nn.Linear(2, 1)
    optimizer = optim.AdamW(model.parameters())
    for whole in (
        optimizer, optim.lr_scheduler.StepLR(optimizer, 3), Subset(TensorDataset(torch.ones(2)), [0]),
        torch.distributions.Normal(0.0, 1.0), torch.amp.GradScaler("cpu"), optim.swa_utils.AveragedModel(model),
        nn.utils.rnn.pack_sequence([torch.ones(2)]), torch.finfo,
    ):
        file = io.BytesIO()
        torch.save(whole, file)
        file.seek(0)
        found = torch.load(file, weights_only=False)
        print(found if isinstance(found, type) else type(found))
    """
    assert output_of(tmp_path, source) == [
        "<class 'torch.optim.adamw.AdamW'>", "<class 'torch.optim.lr_scheduler.StepLR'>",
        "<class 'torch.utils.data.dataset.Subset'>", "<class 'torch.distributions.normal.Normal'>",
        "<class 'torch.amp.grad_scaler.GradScaler'>", "<class 'torch.optim.swa_utils.AveragedModel'>",
        "<class 'torch.nn.utils.rnn.PackedSequence'>", "<class 'torch.finfo'>",
    ]  # fmt: skip


def test_torch_is_pickled_by_name_with_functions_that_use_it(tmp_path: Path) -> None:
    source = """
    import pickle
    import torch

    globals_of_a_function = {"torch": torch, "F": torch.nn.functional.relu}
    found = pickle.loads(pickle.dumps(globals_of_a_function))
    print(found["torch"] is torch, found["F"] is torch.nn.functional.relu)
    """
    assert output_of(tmp_path, source) == ["True True"]
