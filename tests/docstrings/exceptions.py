"""Which of torch's docstrings are not run, and which examples may do otherwise, each with its reason."""

from __future__ import annotations

LEFT_OUT_MODULES = (
    r".*(cuda|backends|xpu|mps|mtia|accelerator)"  # another device, or what torch was built with
    r"|torch\._|torch\.testing\._internal"  # not public
    r"|.*(_inductor|_dynamo|onnx|export|package|compiler|monitor|functorch)"  # other ways to run or ship a model
    r"|torch\.hub|torch\.utils\.data\.datapipes|.*backend_registration"  # the network; given up by torch; other devices
    r"|torch\.ao|.*quantiz|torch\.nn\.intrinsic|torch\.distributed\.(rpc|autograd)"  # quantised layers; remote calls
)

LEFT_OUT = {
    "torch.distributed.TCPStore": "waits for another process",
    "torch.distributed.Store.wait": "waits for another process",
    "torch.load": "opens a file that nobody wrote",
}

UNDEFINED = "prints memory that nobody has set"
NO_CUDA = "torch was built without CUDA and refuses; here a stream is made wherever the work runs"

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("torch.empty", "torch.empty((2,3), dtype=torch.int64)"): UNDEFINED,
}


def reason(name: str, source: str) -> str | None:
    """Return why an example of a docstring may do otherwise, or None."""
    found = (why for (where, start), why in EXCEPTIONS.items() if where == name and source.startswith(start))
    return next(found, None)
