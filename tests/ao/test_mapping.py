"""Mappings from layers to what watches them, and the graph of a model whose layers are fused."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.ao.nn import intrinsic
from funcgrad.ao.quantization import (
    QConfigMapping,
    default_dynamic_qconfig,
    default_quint8_weight_qconfig,
    get_default_qat_qconfig,
    get_default_qat_qconfig_mapping,
    get_default_qconfig,
    get_default_qconfig_mapping,
)
from funcgrad.ao.quantization.quantize_fx import fuse_fx
from funcgrad.nn import functional as F


def test_a_mapping_says_what_it_was_told() -> None:
    mapping = (
        QConfigMapping()
        .set_global(default_dynamic_qconfig)
        .set_object_type(nn.Linear, None)
        .set_module_name_regex("a.*", None)
        .set_module_name("a.b", default_dynamic_qconfig)
        .set_module_name_object_type_order("x", nn.Conv2d, 0, None)
    )
    told = mapping.to_dict()
    assert told["object_type"] == [(nn.Linear, None)]
    assert told["module_name_object_type_order"] == [("x", nn.Conv2d, 0, None)]
    assert QConfigMapping.from_dict(told).to_dict() == told
    assert repr(QConfigMapping().set_module_name("a", None)) == (
        "QConfigMapping (\n global_qconfig\n  None\n object_type_qconfigs\n  OrderedDict()\n"
        " module_name_regex_qconfigs\n  OrderedDict()\n module_name_qconfigs\n  a: None\n"
        " module_name_object_type_order_qconfigs\n  OrderedDict()\n)"
    )


def test_defaults_differ_where_a_backend_does() -> None:
    for mapping, qconfig in (
        (get_default_qconfig_mapping("x86"), get_default_qconfig("x86")),
        (get_default_qat_qconfig_mapping("x86"), get_default_qat_qconfig("x86")),
    ):
        assert str(mapping.global_qconfig) == str(qconfig)
        kinds = mapping.object_type_qconfigs
        assert kinds[nn.PReLU] is default_quint8_weight_qconfig and kinds["sigmoid"] is kinds[nn.Sigmoid]
        assert kinds[nn.Tanh] is not kinds[nn.Sigmoid] and kinds[F.layer_norm] is kinds[nn.LayerNorm]
        assert str(kinds[nn.ConvTranspose2d].weight) != str(qconfig.weight)
    plain = get_default_qconfig_mapping("qnnpack")
    assert plain.object_type_qconfigs[nn.ConvTranspose1d] is plain.global_qconfig
    with pytest.raises(AssertionError, match="backend: q not supported"):
        get_default_qconfig_mapping("q")


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)
        self.inner = nn.Sequential(nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5))
        self.linear, self.flat_norm, self.last = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.inner(F.relu(self.norm(self.conv(x)))).mean((2, 3))
        y = self.linear(x)
        return torch.relu(self.last(self.flat_norm(y))) + y


def test_layers_of_a_graph_become_one_where_nothing_else_reads_between() -> None:
    torch.manual_seed(0)
    model = Layers()
    model(torch.randn(4, 3, 2, 2))  # the statistics become others than 0 and 1
    fused, x = fuse_fx(model.eval()), torch.randn(2, 3, 2, 2)
    torch.testing.assert_close(fused(x), model(x))
    assert type(fused.conv) is intrinsic.ConvReLU2d and type(fused.get_submodule("inner.0")) is intrinsic.ConvReLU2d
    assert type(model.conv) is nn.Conv2d and type(fused.flat_norm) is nn.BatchNorm1d
    called = [str(node.target) for node in fused.graph.nodes if node.op == "call_module"]
    assert called == ["conv", "inner.0", "inner.3", "linear", "flat_norm", "last"]
    assert not hasattr(fused, "norm")


def test_only_models_in_evaluation_are_fused() -> None:
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        fuse_fx(Layers())


@pytest.mark.xfail(raises=NotImplementedError, strict=True, reason="which layers are fused is one table here")
def test_a_configuration_of_ones_own_says_what_is_not_fused() -> None:
    kept = fuse_fx(Layers().eval(), fuse_custom_config={"preserved_attributes": ["conv"]})
    assert kept.conv is not None
