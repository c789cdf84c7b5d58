"""check(step): run a training step twice, put everything back, and name what is wrong with it, line by line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from funcgrad._program.journal import is_users_file
from funcgrad._program.trie import Constant
from funcgrad._program.value import Aval
from funcgrad._tape.nodes import GradNode, now
from funcgrad.explain.watching import Event, line_of, watched
from funcgrad.func.holding import held
from funcgrad.func.places import Places
from funcgrad.nn.batchnorm import _BatchNorm
from funcgrad.nn.dropout import _DropoutNd
from funcgrad.nn.parameter import Parameter

_MODE_MATTERS = (_BatchNorm, _DropoutNd)
_ON_A_LEAF = "a leaf Variable that requires grad is being used in an in-place operation"


class Finding(NamedTuple):
    """One thing that is wrong: its name, the user's line, what was seen, and what to do."""

    fault: str
    line: str
    seen: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.line}: {self.fault}: {self.seen}. {self.remedy}."


class Findings(list[Finding]):
    """What `check` found; prints a finding a line."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "nothing wrong was found"

    __str__ = __repr__


class _Round(NamedTuple):
    """One run of the step: what happened, the number of the first node made in it, and the error that ended it."""

    events: list[Event]
    start: int
    error: Exception | None


def check(step: Callable[..., Any], *args: Any, times: int = 2) -> Findings:
    """Run `step(*args)` a few times, watch it, put all tensors and optimizers back, and return what is wrong with it.

    Named are: zero_grad forgotten, a carried state that is not detached, frozen layers, an optimizer with the wrong
    parameters, layers whose result is not used, step before backward, retain_graph for no reason, a leaf changed in
    place, a loss that is averaged twice, and a model left in the wrong mode.
    An error of the step that is none of these is raised as it is.
    """
    places = Places(step)
    rounds: list[_Round] = []
    with held(places.optimizers.values(), places.schedulers.values()):
        for _ in range(times):
            rounds.append(_run(step, args))
            if rounds[-1].error is not None:
                break
    found = dict.fromkeys(one for of_kind in _KINDS for one in of_kind(places, rounds))
    error = rounds[-1].error
    if error is not None and not any(one.fault in _RAISING for one in found):
        raise error
    return Findings(found)


def _run(step: Callable[..., Any], args: tuple[Any, ...]) -> _Round:
    events: list[Event] = []
    start = now()
    error = None
    with watched(events):
        try:
            step(*args)
        except RuntimeError as raised:
            error = raised
    return _Round(events, start, error)


def _events(rounds: list[_Round], kind: str) -> Iterator[Event]:
    return (event for one in rounds for event in one.events if event.kind == kind)


def _stale_gradients(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    used: set[int] = set()
    for event in (event for one in rounds for event in one.events):
        if event.kind == "step":
            used |= {id(grad) for _, grad in event.grads}
        elif event.kind == "zero_grad":
            used.clear()
        elif event.kind == "backward":
            stale = [slot for slot, grad in event.grads if id(grad) in used]
            if stale:
                yield Finding(
                    "forgotten zero_grad", event.line,
                    f"this backward adds to the gradients of {_names(places, stale)}, which a step has used already",
                    "Call optimizer.zero_grad() before it",
                )  # fmt: skip


def _carried_states(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    for one in rounds:
        for event in one.events:
            if event.kind != "backward":
                continue
            for node in event.nodes:
                old = [n for n, _ in node.edges if isinstance(n, GradNode) and n.order < one.start]
                if node.order >= one.start and old:
                    yield Finding(
                        "missing detach of a carried state", line_of(node) or event.line,
                        f"{node.name()} reads a tensor that an earlier iteration computed (by {old[0].name()} at "
                        f"{line_of(old[0]) or 'an earlier line'}), so backward goes through that iteration again",
                        "Carry it on as state.detach()",
                    )  # fmt: skip


def _frozen(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    if not any(_events(rounds, "backward")):
        return
    called = {event.module: event.line for event in _events(rounds, "call")}
    frozen: dict[Any, list[str]] = {}
    for path, tensor in places.paths.items():
        if isinstance(tensor, Parameter) and not tensor.requires_grad:
            frozen.setdefault(_owner(places, tensor), []).append(path)
    for owner, paths in frozen.items():
        if owner in called:
            yield Finding(
                "frozen layer",
                called[owner],
                f"no step changes {_some(paths)}: requires_grad is False",
                "If that is not meant, call requires_grad_() on the layer",
            )


def _wrong_parameters(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    reached = {id(slot.variable) for event in _events(rounds, "backward") for slot in event.slots}
    steps = list(_events(rounds, "step"))
    if not reached or not steps:
        return
    given = {id(p) for event in steps for group in event.optimizer.param_groups for p in group["params"]}
    left_out = [path for path, t in places.paths.items() if id(t) in reached - given and isinstance(t, Parameter)]
    if left_out:
        foreign = given - {id(t) for t in places.paths.values()} if not given & reached else set()
        more = "; what it has instead, the loss does not depend on" if foreign or not given & reached else ""
        yield Finding(
            "wrong parameters in the optimizer", steps[0].line,
            f"the loss depends on {_some(left_out)}, but no optimizer that steps has {_it(left_out)}{more}",
            "Make the optimizer with the parameters of the model that is trained",
        )  # fmt: skip


def _unused(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    backwards = list(_events(rounds, "backward"))
    reached = {id(slot.variable) for event in backwards for slot in event.slots}
    called = {event.module: event.line for event in _events(rounds, "call")}
    if not backwards or any(one.error for one in rounds):
        return
    by_owner: dict[Any, list[str]] = {}
    for path, tensor in places.paths.items():
        if isinstance(tensor, Parameter) and tensor.requires_grad and id(tensor) not in reached:
            by_owner.setdefault(_owner(places, tensor), []).append(path)
    by_owner.pop(None, None)  # what only an optimizer has: see `_wrong_parameters`
    for owner, paths in by_owner.items():
        was_called = owner in called
        yield Finding(
            "unused layer", called.get(owner, backwards[0].line),
            f"{_some(paths)} get no gradient: " + (
                "the layer is called here, but the loss does not depend on its result" if was_called
                else "no loss depends on them"
            ),
            "Let the loss depend on its result (was it detached on the way?), or take the layer out",
        )  # fmt: skip


def _order(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    for one in rounds:
        kinds = [event for event in one.events if event.kind in ("backward", "step", "zero_grad")]
        backwards = [i for i, event in enumerate(kinds) if event.kind == "backward"]
        for i, event in enumerate(kinds):
            if event.kind != "step" or not backwards:
                continue
            if i < backwards[0]:
                yield Finding(
                    "step before backward", event.line, "the optimizer steps before the gradients are there",
                    "Call loss.backward() first, then optimizer.step()",
                )  # fmt: skip
            elif not event.grads and any(k.kind == "zero_grad" for k in kinds[backwards[0] : i]):
                yield Finding(
                    "step before backward", event.line, "zero_grad() has taken the gradients away before this step",
                    "Call zero_grad() before backward, or after step",
                )  # fmt: skip


def _retained(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    backwards = list(_events(rounds, "backward"))
    for i, event in enumerate(backwards):
        own = set(event.nodes)
        again = any(own & set(later.nodes) for later in backwards[i + 1 :])
        if event.retains and not again:
            yield Finding(
                "retain_graph for no reason", event.line,
                f"the graph of {len(own)} nodes is kept, and no other backward goes through it",
                "Leave retain_graph=True out: it holds on to memory",
            )  # fmt: skip


def _leaf_in_place(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    error = rounds[-1].error
    if error is not None and _ON_A_LEAF in str(error):
        yield Finding(
            "in-place change of a leaf", _line_of_error(error), "a tensor that requires grad is changed in place",
            "Do it under torch.no_grad(), or compute a new tensor",
        )  # fmt: skip


def _averaged_twice(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    for event in _events(rounds, "backward"):
        node = event.root._current().node
        dividing = None
        while isinstance(node, GradNode) and (number := _divisor(node)) is not None:
            dividing = node, number
            node = node.edges[0][0]
        if dividing is None or not isinstance(node, GradNode) or not _averages(node):
            continue
        by, number = dividing
        sizes = {size for a in node.signature.arguments if isinstance(a, Aval) for size in a.shape}
        if number == 1 or number in sizes:
            what = "the mean is taken of one number" if number == 1 else f"it is divided by {number:g}"
            yield Finding(
                "loss averaged twice", line_of(by) or event.line,
                f"{node.signature.op.name} is a mean already (at {line_of(node)}), and here {what}",
                "Leave the second average out, or give the loss reduction='sum'",
            )  # fmt: skip


def _wrong_mode(places: Places, rounds: list[_Round]) -> Iterator[Finding]:
    trains = any(_events(rounds, "backward"))
    for event in _events(rounds, "call"):
        if not isinstance(event.module, _MODE_MATTERS):
            continue
        name = type(event.module).__name__
        if event.training and not event.grad_mode:
            yield Finding(
                "eval mode forgotten", event.line, f"{name} runs in training mode under no_grad",
                "Call model.eval() before it, and model.train() afterwards",
            )  # fmt: skip
        elif not event.training and event.grad_mode and trains:
            yield Finding(
                "train mode forgotten", event.line, f"{name} runs in eval mode in a step that trains",
                "Call model.train() before it",
            )  # fmt: skip


_KINDS = (
    _stale_gradients, _carried_states, _frozen, _wrong_parameters, _unused, _order, _retained, _leaf_in_place,
    _averaged_twice, _wrong_mode,
)  # fmt: skip
_RAISING = ("missing detach of a carried state", "in-place change of a leaf", "step before backward")


def _divisor(node: GradNode) -> float | None:
    """Return what a node divides its one tensor by: n for x / n and x * (1 / n), 1 for the mean of one number."""
    name, arguments = node.signature.op.name, node.signature.arguments
    if name.startswith("mean") and isinstance(arguments[0], Aval) and arguments[0].shape.numel() == 1:
        return 1
    numbers: list[Any] = [a.number for a in arguments if type(a) is Constant]
    numbers += [x for x in node.saved or () if type(x) in (int, float)]
    if name in ("div", "mul") and len(numbers) == 1 and numbers[0] and isinstance(numbers[0], (int, float)):
        return float(numbers[0]) if name == "div" else round(1 / numbers[0], 6)
    return None


def _averages(node: GradNode) -> bool:
    name, statics = node.signature.op.name, node.signature.statics
    is_loss = "loss" in name or "entropy" in name
    return name.startswith("mean") or (is_loss and not {"sum", "none"} & {s for s in statics if isinstance(s, str)})


def _line_of_error(error: Exception) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if is_users_file(f.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "(no line)"


def _owner(places: Places, tensor: Any) -> Any:
    for module in places.modules.values():
        for inner in module.modules():
            if any(p is tensor for p in inner._parameters.values()):
                return inner
    return None


def _names(places: Places, slots: list[Any]) -> str:
    by_id = {id(tensor): path for path, tensor in places.paths.items()}
    return _some([by_id.get(id(slot.variable), "a tensor") for slot in slots])


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"
