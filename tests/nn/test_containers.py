"""Containers behave as torch's: indexing, slices, changes in place, dictionaries, parameters in lists."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import funcgrad as torch
from funcgrad import nn


def test_sequential_is_a_list_of_steps() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert len(net) == 3 and net[-1] is net[2]
    assert [type(module).__name__ for module in net[1:]] == ["ReLU", "Linear"]
    assert list(net[1:]._modules) == ["1", "2"]
    net[1] = nn.Tanh()
    del net[0]
    assert list(net._modules) == ["0", "1"] and isinstance(net[0], nn.Tanh)
    net.append(nn.Sigmoid()).insert(0, nn.Linear(3, 3))
    assert [type(module).__name__ for module in net] == ["Linear", "Tanh", "Linear", "Sigmoid"]
    assert isinstance(net.pop(1), nn.Tanh) and len(net) == 3
    with pytest.raises(IndexError, match="index 5 is out of range"):
        _ = net[5]


def test_sequentials_add_and_multiply() -> None:
    one, two = nn.Sequential(nn.ReLU()), nn.Sequential(nn.Tanh(), nn.Sigmoid())
    assert len(one + two) == 3 and len(one * 3) == 3 and len(2 * two) == 4
    one += two
    one *= 2
    assert len(one) == 6
    with pytest.raises(ValueError, match="Non-positive multiplication factor"):
        _ = one * 0
    with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
        _ = one.__add__([nn.ReLU()])


def test_sequential_takes_names() -> None:
    net = nn.Sequential(OrderedDict(up=nn.Linear(1, 2), act=nn.ReLU()))
    assert list(net.state_dict()) == ["up.weight", "up.bias"] and net.act is net[1]


def test_module_list_and_dictionary() -> None:
    heads = nn.ModuleList(nn.Linear(2, i + 1) for i in range(3))
    heads.insert(1, nn.ReLU())
    heads.extend([nn.Tanh()])
    heads += [nn.Sigmoid()]
    assert [name for name, _ in heads.named_children()] == list("012345")
    assert len(heads[::2]) == 3 and isinstance(heads.__add__([nn.ReLU()]), nn.ModuleList)
    with pytest.raises(NotImplementedError, match=r'Module \[ModuleList\] is missing the required "forward" function'):
        heads(1)
    with pytest.raises(TypeError, match=r"ModuleList.extend should be called with an iterable"):
        heads.extend(3)
    layers = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 1)})
    layers["c"] = nn.Tanh()
    layers.update([("d", nn.ReLU())])
    assert list(layers) == ["b", "a", "c", "d"] and "a" in layers and len(layers) == 4
    assert isinstance(layers.pop("c"), nn.Tanh) and list(layers.keys()) == ["b", "a", "d"]
    with pytest.raises(ValueError, match="has length 1; 2 is required"):
        layers.update([("x",)])


def test_parameters_in_a_list() -> None:
    held = nn.ParameterList([torch.zeros(2, 3), nn.Parameter(torch.ones(1)), "note"])
    held.append(torch.ones(2))
    assert [name for name, _ in held.named_parameters()] == ["0", "1", "3"]
    assert isinstance(held[0], nn.Parameter) and held[2] == "note" and len(held[:2]) == 2
    assert repr(held) == (
        "ParameterList(\n    (0): Parameter containing: [torch.float32 of size 2x3]\n"
        "    (1): Parameter containing: [torch.float32 of size 1]\n    (2): Object of type: str\n"
        "    (3): Parameter containing: [torch.float32 of size 2]\n)"
    )
    with pytest.raises(RuntimeError, match="ParameterList should not be called"):
        held(1)


def test_parameters_in_a_dictionary() -> None:
    held = nn.ParameterDict({"b": torch.zeros(2), "a": nn.Parameter(torch.ones(1))})
    assert list(held) == ["a", "b"]  # torch sorts what comes from a plain dictionary
    held["c"] = torch.ones(3)
    joined = held | nn.ParameterDict({"d": torch.zeros(1)})
    assert list(joined.keys()) == ["a", "b", "c", "d"] and joined["a"] is held["a"]
    assert held.popitem()[0] == "c" and held.get("z") is None and held.setdefault("e", 3) == 3
    assert repr(held) == (
        "ParameterDict(\n    (a): Parameter containing: [torch.FloatTensor of size 1]\n"
        "    (b): Parameter containing: [torch.FloatTensor of size 2]\n    (e): Object of type: int\n)"
    )
    held.clear()
    assert len(held) == 0 and not list(held.parameters())
