"""Where torch's dotted names live here: the tops that funcgrad stands in for, and paths not called alike."""

from __future__ import annotations

# What a script imports -> the room that answers. A dotted path below it is looked up by the same name.
TOPS = {"torch": "funcgrad", "torchvision": "funcgrad.vision"}

# Paths that torch has and funcgrad does not: their names are looked for in these rooms, in this order.
VIEWS: dict[str, tuple[str, ...]] = {
    "torch._C": ("funcgrad",),
    "torch._C._nn": ("funcgrad.nn.functional",),
    "torch._jit_internal": ("funcgrad.jit", "typing"),
    "torch._six": ("funcgrad.standing_in.six",),
    "torch._tensor": ("funcgrad",),
    "torch._utils": ("funcgrad.serialization.rebuild",),
    "torch.amp.autocast_mode": ("funcgrad.amp",),
    "torch.amp.grad_scaler": ("funcgrad.amp",),
    "torch.autograd.forward_ad": ("funcgrad.autograd",),
    "torch.autograd.functional": ("funcgrad.autograd",),
    "torch.autograd.grad_mode": ("funcgrad.autograd",),
    "torch.autograd.gradcheck": ("funcgrad.autograd",),
    "torch.autograd.graph": ("funcgrad.autograd",),
    "torch.autograd.variable": ("funcgrad.autograd",),
    "torch.cuda.amp": ("funcgrad.amp",),
    "torch.cuda.amp.autocast_mode": ("funcgrad.amp",),
    "torch.cuda.amp.grad_scaler": ("funcgrad.amp",),
    "torch.cuda.comm": ("funcgrad.nn.parallel",),
    "torch.cuda.random": ("funcgrad.cuda",),
    "torch.cuda.streams": ("funcgrad.cuda",),
    "torch.functional": ("funcgrad",),
    "torch.nn._reduction": ("funcgrad.nn.loss",),
    "torch.nn.common_types": ("funcgrad.standing_in.types",),
    "torch.nn.parallel.data_parallel": ("funcgrad.nn.parallel",),
    "torch.nn.parallel.distributed": ("funcgrad.nn.parallel",),
    "torch.nn.modules.batchnorm": ("funcgrad.nn.batchnorm", "funcgrad.nn"),
    "torch.nn.utils.clip_grad": ("funcgrad.nn.utils",),
    "torch.storage": ("funcgrad._tensor.storage", "funcgrad"),
    "torch.tensor": ("funcgrad",),
    "torch.torch_version": ("funcgrad.version",),
    "torch.types": ("funcgrad.standing_in.types", "funcgrad"),
    "torch.utils.data._utils": ("funcgrad.utils.data",),
    "torch.utils.data._utils.collate": ("funcgrad.utils.data.collate",),
    "torch.utils.data.backward_compatibility": ("funcgrad.utils.data",),
}
