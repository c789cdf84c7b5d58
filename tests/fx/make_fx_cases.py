"""Functions that make_fx traces, in torch and in funcgrad, and what is recorded of it."""

from __future__ import annotations

from typing import Any


def texts(torch: Any, make_fx: Any) -> dict[str, list[str]]:
    """Return, by name, the class, the code and the graph of each function."""
    nn, functional = torch.nn, torch.nn.functional
    x, y, w, b = (torch.full(shape, 0.5) for shape in ((4, 3), (4, 3), (5, 3), (5,)))
    kept = torch.ones(3)
    net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2))

    def layers(x: Any, w: Any, b: Any) -> Any:
        found = functional.linear(x, w, b).relu()
        return found.sum(1), {"mean": found.mean()}

    def constants(x: Any) -> Any:
        return x * kept + torch.zeros(3) + kept + torch.tensor([1.0, 2.0, 3.0])

    def in_place(x: Any) -> Any:
        x.add_(1)
        return x[0]

    def several(x: Any, y: Any) -> Any:
        return torch.topk(x, 2)[0], functional.layer_norm(torch.cat([x, y], 1), (6,)), x.softmax(-1).chunk(3, 1)

    def made(x: Any) -> Any:
        return x.to(torch.float64), [x[1:], x[:, None]], torch.arange(2).to(x.dtype)

    calls = {
        lambda x, w, b: layers(x, w, b): (x, w, b),
        lambda x: constants(x): (x,),
        lambda x: net(x): (x,),
        net: (x,),
        lambda x: in_place(x): (x.clone(),),
        lambda x, y: several(x, y): (x, y),
        lambda x, n: (x * n, 3, None): (x, 3),
        lambda *all: all[0] - all[1]: (x, y),
        lambda x: made(x): (x,),
        torch.sin: (x,),
        lambda d, k: {"r": d["a"]["c"] * k + d["b"]}: ({"a": {"c": x}, "b": y}, 3),
        lambda pair, z: (pair[0] * pair[1] + z, [z]): ((x, y), b[:3]),
        lambda *all: all[0][0] - all[1]: ([x], y),
        lambda x, flag=None: x + 1: (x, None),
        lambda: torch.ones(2): (),
    }
    graphs = [make_fx(function)(*args) for function, args in calls.items()]
    return {str(i): [type(graph).__name__, graph.code, str(graph.graph)] for i, graph in enumerate(graphs)}
