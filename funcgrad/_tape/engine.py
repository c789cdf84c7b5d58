"""The backward pass: from the roots to the leaves, newest node first, every pull-back recorded like any other op.

Iterative, since graphs are deep; a node comes after all that used its results, because it is older than they are.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from funcgrad._base.config import settings
from funcgrad._base.tracebacks import shorten
from funcgrad._ops.table import TABLE
from funcgrad._program import record
from funcgrad._program.record import Program
from funcgrad._tape.again import apply_again, pull_again
from funcgrad._tape.anomalies import Anomalies
from funcgrad._tape.apply import only_record
from funcgrad._tape.aside import recorded_aside
from funcgrad._tape.memory import Shape, Start, replay, shape_of
from funcgrad._tape.modes import enable_grad, no_grad, thread
from funcgrad._tape.nodes import GradNode, GradSlot, Node
from funcgrad._tape.observing import Observing
from funcgrad._tape.searching import Search
from funcgrad._tape.spans import SEEN, SMALL, Kinds, span_of
from funcgrad._tape.turns import turns_of
from funcgrad._tape.variable import Names, Variable

Edge = tuple[Any, int]


class Pass:
    """One backward pass. `targets`: the edges whose gradient is wanted (autograd.grad, inputs=); None: all leaves.

    below: what the inputs of a level (torch.func) stand for, where the graph is that level's. Gradients are below it.
    """

    def __init__(
        self,
        *,
        retain: bool,
        history: bool,
        targets: Iterable[Edge] | None = None,
        below: Sequence[Variable] | None = None,
    ) -> None:
        self.retain, self.history, self.below = retain, history, below
        self.apply: Callable[..., list[Variable]] = apply_again if history else only_record
        self.targets = None if targets is None else set(targets)
        self.found: dict[Edge, Variable] = {}
        self.pending: dict[Node, list[Variable | None]] = {}
        self.waiting: list[tuple[int, Node]] = []
        self.slots: dict[GradSlot, None] = {}
        self.roots: list[tuple[Edge, Variable]] = []
        self.node: Node | None = None  # which is being passed
        self.needed: set[Node] | None = None  # those that lead to targets
        self.turns: dict[Node | None, list[GradSlot]] | None = None  # of leaves, where hooks could see them
        self.at_the_end: list[Callable[[], None]] = []  # what is called once all gradients are in place
        self.search = Search() if Anomalies.on and Anomalies.check_nan else None

    def __enter__(self) -> None:
        self.outer, thread.running = thread.running, self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        thread.running = self.outer
        if error is not None:
            shorten(error)

    def nodes(self) -> set[Node]:
        """Return the nodes that gradients reach in this pass."""
        edges = [edge for edge, _ in self.roots]
        reached = _reached(edges)
        return reached if self.targets is None else reached & self._leading_to_targets(edges)

    @property
    def _is_told(self) -> bool:
        """Whether somebody wants to know of each node."""
        return bool(Anomalies.on or settings.strict or Observing.threads)

    def run(self, roots: Iterable[tuple[Edge, Variable]]) -> dict[Edge, Variable]:
        """Send the gradients of the roots backwards; return those of the targets."""
        with enable_grad() if self.history else no_grad(), self:
            self.roots = roots = list(roots)
            if self.history or len(roots) != 1 or self._is_told:
                self._walk(roots)
            else:
                self._walk_or_replay(*roots[0])
            self._settle_in_turn()
            self._settle(self.slots)
            for callback in self.at_the_end:  # each may ask for more
                callback()
        return self.found

    def _settle_in_turn(self) -> None:
        """Give leaves their gradients in the order of torch's, if there are hooks on some."""
        if self.turns is None and any(slot.pre_hooks or slot.post_hooks or slot.hooks for slot in self.slots):
            self.turns = turns_of([node for (node, _), _ in self.roots], self.needed)
        for slots in (self.turns or {}).values():
            self._settle(slots)

    def _settle(self, slots: Iterable[GradSlot]) -> None:
        """Give leaves what has arrived for them."""
        if self.search is not None:
            self.search.judge()
        for slot in slots:
            received = self.pending.pop(slot, None)
            if received is None:
                continue
            (gradient,) = received
            hooked = slot.pre_hooks or slot.post_hooks or slot.hooks
            if slot.grad is not None or hooked or slot.frozen or slot.retained or self.targets:
                self._gather(slot, gradient)
            elif gradient is not None:
                slot.grad = Names.wrap(gradient)

    def _walk_or_replay(self, edge: Edge, gradient: Variable) -> None:
        """Pass through the graph, or take the end of such a pass from memory."""
        program = record.thread.program
        shape = shape_of(program, *edge, gradient, self.targets)
        if shape is None:
            self._walk([(edge, gradient)])
            return
        gradients = replay(program, shape, retain=self.retain)
        if gradients is None:
            start = Start(program)
            self._walk([(edge, gradient)])
            self._remember(start, shape)
            return
        for end, found in zip(shape.ends, gradients, strict=True):
            if type(end[0]) is GradSlot:
                self.slots[end[0]] = None
                self.pending[end[0]] = [found]
            else:
                self.found[end] = found

    def _remember(self, start: Start, shape: Shape) -> None:
        """Remember the pass that was just walked, if it gave all that is wanted."""
        ends = [node for node, _ in shape.ends if type(node) is GradSlot]
        if len(ends) < len(self.slots) or not all(
            node in self.slots if type(node) is GradSlot else (node, i) in self.found for node, i in shape.ends
        ):
            return
        self.slots = dict.fromkeys(ends)  # in the order of every later pass
        gradients = [self.pending[node][0] if type(node) is GradSlot else self.found[node, i] for node, i in shape.ends]
        start.remember(shape, gradients, self.needed)  # type: ignore[arg-type]  # all were given

    def _walk(self, roots: list[tuple[Edge, Variable]]) -> None:
        needed = None if self.targets is None else self._leading_to_targets(edge for edge, _ in roots)
        self.needed = needed
        for edge, gradient in roots:
            self._arrive(edge, gradient, needed)
        one_by_one = self.history or self._is_told or self.targets is not None or not settings.turns
        passing: Program | None = None  # in which what is being passed was recorded
        met, kinds = set[Program](), Kinds()
        while self.waiting:
            node = heapq.heappop(self.waiting)[1]
            program = node.program
            if program is not passing:
                passing = program
                if not (one_by_one or program is None or program in met):
                    met.add(program)
                    if (before := kinds.earlier(program.cursor)) and self._pass_span(node, most=SMALL * before):
                        continue
            if self.turns is None and (node.hooks or node.pre_hooks):
                self._begin_turns(node)
            self.pass_through(node, needed)
            if self.turns:
                self._settle(self.turns.pop(node, ()))

    def _begin_turns(self, node: Node) -> None:
        """Find out the turns of leaves before the hooks of a node run; give those theirs that had them."""
        self.turns = turns_of([root for (root, _), _ in self.roots], self.needed)
        for passed in [passed for passed in self.turns if passed is None or passed.order > node.order]:
            self._settle(self.turns.pop(passed))

    def _pass_span(self, node: Any, most: int) -> bool:
        """Pass all nodes of a GradNode's program at once unless they are more than that; return whether it was done."""
        entries = [node]
        while self.waiting and self.waiting[0][1].program is node.program:
            entries.append(heapq.heappop(self.waiting)[1])
        span = span_of(entries, self.pending, -self.waiting[0][0] if self.waiting else 0)
        if span is not None and len(span.nodes) > most:
            span = None
        passed = span and (
            SEEN.get(span.key) or SEEN.found(span.key, lambda: recorded_aside(span, Pass(retain=True, history=False)))
        )
        if span is None or passed is None:
            for entry in entries[1:]:
                heapq.heappush(self.waiting, (-entry.order, entry))
            return False
        for entry in entries:
            del self.pending[entry]
        results = only_record(passed.op, span.read(passed.reads)) if passed.op.avals else []
        ends = list(span.ends.items())
        for end, source in passed.gives:
            gradient = results[source] if source >= 0 else span.inputs[-1 - source]
            edge, before = ends[end]
            if before is None:
                self._arrive(edge, gradient, None)
            else:
                self.pending[edge[0]][edge[1]] = gradient
        if not self.retain:
            span.release(passed.passed)
        return True

    def _arrive(self, edge: Edge, gradient: Variable | None, needed: set[Node] | None) -> None:
        """Add a gradient to what its node has received."""
        node, index = edge
        if node is None or gradient is None or (needed is not None and node not in needed):
            return
        received = self.pending.get(node)
        if received is None:
            received = self.pending[node] = [None] * len(node.avals)
            if type(node) is GradSlot:
                self.slots[node] = None
            else:
                heapq.heappush(self.waiting, (-node.order, node))
        if type(gradient) is not Variable and type(node) is not GradSlot:
            gradient = gradient.dense()
        before = received[index]
        received[index] = gradient if before is None else self._sum(gradient, before)

    def _sum(self, one: Variable, other: Variable) -> Variable:
        if type(one) is Variable is type(other):
            return self.apply(TABLE["add"], (one, other))[0]
        return one.plus(other)

    def pass_through(self, node: Node, needed: set[Node] | None) -> None:
        """Pull what the node received back to its inputs."""
        cotangents = self.pending.pop(node)
        self.node = node
        if self.search is not None and (node.pre_hooks or not isinstance(node, GradNode)):
            self.search.judge()  # before a user's code is run
        if node.pre_hooks or node.retained or self.targets is not None:
            cotangents = self._before(node, cotangents)
        if needed is not None and not any(edge[0] in needed for edge in node.edges):
            return
        if node.pre_hooks:
            _call_hooks_of_node(node, cotangents)
        if node.pre_hooks and all(cotangent is None for cotangent in cotangents):
            gradients: Sequence[Any] = [None] * len(node.edges)
        elif self.history and isinstance(node, GradNode):
            wanted = None if needed is None else [edge[0] in needed for edge in node.edges]
            gradients = pull_again(node, wanted, cotangents, self.below)
        else:
            gradients = node.pull(cotangents, self.apply)
        if self.search is not None:
            self.search.look_at(node, gradients)
            if node.hooks:
                self.search.judge()
        if node.hooks:
            gradients = _after(node, gradients, cotangents)
        for edge, gradient in zip(node.edges, gradients, strict=True):
            self._arrive(edge, gradient, needed)
        if not self.retain:
            node.release()

    def _before(self, node: Node, cotangents: list[Variable | None]) -> list[Variable | None]:
        """Let tensors' hooks see (and replace) what arrived; keep it for targets and `retain_grad`."""
        for index, hooks in node.pre_hooks or ():
            if index is not None:
                _call_hooks(cotangents, index, hooks)
        if self.targets is not None:
            for index, gradient in enumerate(cotangents):
                if gradient is not None and (node, index) in self.targets:
                    self.found[node, index] = gradient
        if node.retained:
            for index, slot in node.retained.items():
                if cotangents[index] is not None:
                    self._accumulate(slot, cotangents[index])
        return cotangents

    def _gather(self, slot: GradSlot, gradient: Variable | None) -> None:
        received = self._before(slot, [gradient])
        if received[0] is None or (self.targets is not None and not self._accumulates_into(slot)):
            return
        _call_hooks_of_node(slot, received)
        (gradient,) = received
        if not slot.frozen:
            self._accumulate(slot, gradient)
        for hook in tuple(slot.post_hooks.values()) if slot.post_hooks else ():
            given = slot.variable
            found = hook(given)
            if found is not None and found is not given:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        if slot.hooks:
            _after(slot, (), (gradient,))

    def _accumulates_into(self, slot: GradSlot) -> bool:
        return False

    def _accumulate(self, slot: GradSlot, gradient: Variable | None) -> None:
        """`.grad` is None: it becomes the gradient. Else they add up, in the same Tensor unless history is kept."""
        assert gradient is not None
        held = slot.grad
        if held is None:
            slot.grad = Names.wrap(gradient)
            return
        before = Names.unwrap(held)
        total = self._sum(before, gradient)
        if self.history or type(before) is not type(total):
            slot.grad = Names.wrap(total)
        else:
            total.bind(held)

    def _leading_to_targets(self, edges: Iterable[Edge]) -> set[Node]:
        """Return the nodes from which a target can be reached, the targets' own included."""
        assert self.targets is not None
        wanted = {node for node, _ in self.targets}
        oldest = min(map(_age, wanted), default=0)  # what is older leads to older nodes only
        for node in sorted(_reached(edges, oldest), key=_age):
            if any(next_node in wanted for next_node, _ in node.edges):
                wanted.add(node)
        return wanted


def _age(node: Node) -> int:
    """Return when a node was made: after all that its edges lead to. Leaves were there before."""
    return 0 if type(node) is GradSlot else node.order


def _reached(edges: Iterable[Edge], oldest: int = 0) -> set[Node]:
    """Return the nodes behind edges that are not older than that."""
    seen: set[Node] = set()
    waiting = [node for node, _ in edges if node is not None]
    while waiting:
        node = waiting.pop()
        if node not in seen and _age(node) >= oldest:
            seen.add(node)
            waiting += [next_node for next_node, _ in node.edges if next_node is not None]
    return seen


class InputsPass(Pass):
    """backward(inputs=...): gradients go to the `.grad` of these leaves only."""

    def _accumulates_into(self, slot: GradSlot) -> bool:
        return (slot, 0) in (self.targets or ())


def _call_hooks_of_node(node: Node, cotangents: list[Variable | None]) -> None:
    """Let the hooks on all results together see (and replace) what arrived; only of a node that is passed."""
    for index, hooks in node.pre_hooks or ():
        if index is None:
            _call_hooks(cotangents, index, hooks)


def _call_hooks(cotangents: list[Variable | None], index: int | None, hooks: dict[int, Any]) -> None:
    """Let hooks answer. Those of one tensor are shown one Tensor, and what they write into it in place counts."""
    if index is not None:
        given = cotangents[index]
        if given is None:
            return
        shown = Names.wrap(given)
        for hook in tuple(hooks.values()):
            answer = hook(shown)
            if answer is not None:
                _require_same_kind(hook, given, Names.unwrap(answer))
                shown = answer
        cotangents[index] = Names.unwrap(shown)
        return
    for hook in tuple(hooks.values()):
        answer = hook(tuple(None if c is None else Names.wrap(c) for c in cotangents))
        if answer is not None:
            _require_as_many(hook, answer, len(cotangents))
            cotangents[:] = [_replaced(hook, given, new) for given, new in zip(cotangents, answer, strict=True)]


def _require_same_kind(hook: Any, given: Variable, answer: Variable) -> None:
    """Raise RuntimeError where what a tensor's hook answered cannot be this tensor's gradient."""
    name = getattr(hook, "__name__", type(hook).__name__)
    if answer.aval.shape != given.aval.shape:
        change = "size of value"
    elif answer.aval.dtype is not given.aval.dtype:
        change = f"type of value (was {Names.wrap(given).type()} got {Names.wrap(answer).type()})"
    else:
        return
    raise RuntimeError(f"hook '{name}' has changed the {change}")


def _after(node: Node, gradients: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
    """Let hooks see (and replace) the gradients of a node's inputs, in the order of torch's edges."""
    found, places = list(gradients), node.shown_inputs()
    for hook in tuple((node.hooks or {}).values()):
        inputs = tuple(_shown(None if place is None else found[place], turned) for place, turned in places)
        outputs = tuple(None if c is None else Names.wrap(c) for c in cotangents)
        answer = hook(inputs, outputs)
        if answer is not None:
            _require_as_many(hook, answer, len(places))
            for (place, turned), new in zip(places, answer, strict=True):
                if place is not None:
                    found[place] = _replaced(hook, found[place], new.t() if turned and new is not None else new)
    return found


def _require_as_many(hook: Any, answer: Any, count: int) -> None:
    """Raise where a node's hook answered no tuple, or one of another length."""
    if not isinstance(answer, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(answer).__name__}'")
    if len(answer) != count:
        name = getattr(hook, "__name__", type(hook).__name__)
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values (got {len(answer)}, but expected {count})"
        )


def _replaced(hook: Any, given: Variable | None, new: Any) -> Variable | None:
    """Return what a node's hook answered in the place of a gradient."""
    if new is None:
        return None
    answer = Names.unwrap(new)
    if given is not None:
        _require_same_kind(hook, given, answer)
    return answer


def _shown(gradient: Variable | None, turned: bool) -> Any:
    if gradient is None:
        return None
    return Names.wrap(gradient).t() if turned else Names.wrap(gradient)
