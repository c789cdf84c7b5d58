"""How gradients go through a call: the pull-back of a row, derived once per signature by jax.vjp, is an op too.

A pull-back takes the inputs again (only those that it reads, found from its jaxpr) and the cotangents; the forward that
jax.vjp traces anew is merged by XLA with the recorded one. Rows with keep="residuals" record both halves of their vjp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.interpreters.partial_eval import DynamicJaxprTracer, dce_jaxpr

from funcgrad._ops.table import Number
from funcgrad._program.lengths.symbol import Refusal, attempted
from funcgrad._program.record import record
from funcgrad._program.single import FUNCTIONS
from funcgrad._program.trie import Constant, Signature, are_joined, inputs_from, is_open, signature_of, structs_of
from funcgrad._program.value import Aval, Value, aval
from funcgrad._tape.halves import BackwardHalf, ForwardHalf, conjugated
from funcgrad._tape.nodes import drawing
from funcgrad._tape.second_names import second_name
from funcgrad._tape.variable import Variable

_NONE: frozenset[int] = frozenset()


class Pullback:
    """The transposed derivative of one signature with respect to some of its inputs.

    Of a complex number x + iy torch's gradient is dL/dx + i dL/dy, JAX's its conjugate: both ends are conjugated.

    wanted: the places of the inputs that get a gradient. given: which results have a cotangent. used: the places of the
    inputs that must be saved for it; those that were already (`saved`) are among them.
    """

    __slots__ = (
        "_grad", "all_used", "avals", "constant", "given", "keep", "name", "numbers", "reads_numbers",
        "signature", "used", "wanted",
    )  # fmt: skip

    def __init__(
        self,
        signature: Signature,
        wanted: tuple[int, ...],
        given: tuple[bool, ...] | None = None,
        saved: tuple[int, ...] = (),
    ) -> None:
        self.signature, self.wanted = signature, wanted
        self.name, self.keep, self.numbers = f"{signature.op.name}_pullback", "inputs", "folded"
        self.given = given or tuple(result.differentiable for result in signature.avals)
        self._grad: str | None = None
        self.avals, self.used, self.constant = self._shown(), saved, _NONE
        if not are_joined(signature.op, signature.arguments):  # which may be so many that it takes long to trace
            self.used, compute = self._derived(saved)
            FUNCTIONS.found(self, lambda: compute)
        self.all_used = len(self.used) == len(signature.arguments)
        self.reads_numbers = any(isinstance(signature.arguments[i], type) for i in self.used)

    @property
    def takes_apart(self) -> Signature | None:
        """The call whose joining of many tensors this takes apart again, if it is one and all of them are wanted."""
        is_one = len(self.wanted) == len(self.signature.arguments)
        return self.signature if is_one and are_joined(self.signature.op, self.signature.arguments) else None

    @property
    def puts_at(self) -> int | None:
        """The dimension in which this puts a slice in its place among zeros, where it pulls back `select`."""
        return self.signature.statics[0] if self.signature.op.name == "select" else None

    def made_of(self) -> tuple[Any, ...]:
        """Return what this pull-back was derived from; `made_anew` takes the same of another signature."""
        return self.signature, self.wanted, self.given

    def made_anew(self, signature: Signature, wanted: tuple[int, ...], given: tuple[bool, ...]) -> Pullback:
        """Return this pull-back for a signature of other shapes, which reads the same inputs."""
        made = Pullback.__new__(type(self))
        made.signature, made.wanted, made.given = signature, wanted, given
        made.name, made.keep, made.numbers, made._grad = self.name, self.keep, self.numbers, None
        made.used, made.all_used, made.reads_numbers = self.used, self.all_used, self.reads_numbers
        made.constant = self.constant
        made.avals = tuple(signature.arguments[i] for i in wanted)
        return made

    @property
    def grad(self) -> str:
        """The name of the node that a backward with create_graph leaves."""
        if self._grad is None:
            shown = drawing(self.signature)
            node = shown if isinstance(shown, str) else shown[0]
            self._grad = second_name(self.signature.op.name, node, self.wanted[0])
        return self._grad

    def save(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Return the inputs that the pull-back reads."""
        return tuple(inputs) if self.all_used else tuple([inputs[i] for i in self.used])

    def pull(self, saved: tuple[Any, ...], cotangents: Sequence[Any], apply: Callable[..., Any]) -> Sequence[Any]:
        """Record the gradients of the wanted inputs."""
        if len(cotangents) == 1:  # it is given, or the node would not have been passed
            return apply(self, (*saved, cotangents[0]), ())
        given = tuple([c is not None for c in cotangents])
        pullback = self if given == self.given else self._for(given)
        return apply(pullback, (*saved, *[c for c in cotangents if c is not None]), ())

    def pull_to(
        self, needed: Sequence[bool], saved: tuple[Any, ...], cotangents: Sequence[Any], apply: Callable[..., Any]
    ) -> Sequence[Any]:
        """Record the gradients of some of the wanted inputs, which may read less than those of all."""
        some = pullback_of(self.signature, sum(1 << i for i, one in zip(self.wanted, needed, strict=True) if one))
        by_place = dict(zip(self.used, saved, strict=True))
        return some.pull(tuple([by_place[i] for i in some.used]), cotangents, apply)

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Compute the gradients from the used inputs and the given cotangents.

        They are derived anew for numbers that are part of the program, and where they are differentiated themselves: a
        function with a rule of its own may enclose arrays, of which what is derived remembers nothing.
        """
        if all(map(_is_plain, inputs)):
            compute = FUNCTIONS.found(self, lambda: self._derived(self.used)[1])
            return tuple(compute(*[x.value if type(x) is Number else x for x in inputs]))
        count = len(self.used)
        by_place = dict(zip(self.used, inputs[:count], strict=True))
        full = [by_place.get(i, x) for i, x in enumerate(map(_absent, self.signature.arguments))]
        return self._pulled(full, inputs[count:])

    def path_by_name(self, name: str, signature: Signature) -> tuple[int, ...] | None:
        """Return where the input of this name ("self" is torch's first) stands in what was saved; None: not needed."""
        place = _saved_place(signature, name)
        return (self.used.index(place),) if place in self.used else None

    def result_again(self, saved: tuple[Any, ...], signature: Signature) -> Value:
        """Record the call once more, for who asks what it gave: a node holds inputs. AttributeError: not all."""
        by_place = dict(zip(self.used, saved, strict=True))
        inputs = [by_place.get(i, x.number if type(x) is Constant else x) for i, x in enumerate(signature.arguments)]
        if any(isinstance(x, (Aval, type)) for x in inputs):
            raise AttributeError(f"{signature.op.name} saved nothing of 'result'")
        values = [x.value if isinstance(x, Variable) else x for x in inputs]
        return record(signature.op, values, signature.statics)[1][0]

    def edge_by_name(self, edges: Sequence[Any], name: str, signature: Signature) -> tuple[Any, int]:
        """Return the edge of the input with this name, or (None, 0)."""
        place = self.place_by_name(name, signature)
        return (None, 0) if place is None else edges[place]

    def place_by_name(self, name: str, signature: Signature) -> int | None:
        """Return which edge is that of the input with this name."""
        place = _place(signature, name)
        return self.wanted.index(place) if place in self.wanted else None

    def _for(self, given: tuple[bool, ...]) -> Pullback:
        key = (self.wanted, given)
        found = self.signature.pullbacks.get(key)
        if found is None:
            signature, derive = self.signature, partial(Pullback, wanted=self.wanted, given=given, saved=self.used)
            found = _known_with_length_open(signature, key, derive) or derive(signature)
            signature.pullbacks[key] = found
        return found

    def _shown(self) -> tuple[Aval, ...]:
        """Return what is known of the gradients: each lies in memory as what it is one of."""
        arguments = self.signature.arguments
        placement = next((a.placement for a in arguments if type(a) is Aval and a.placement is not None), None)
        inputs = [arguments[i] for i in self.wanted]
        return tuple([aval(a.struct.shape, a.dtype.numpy, placement, a.order) for a in inputs])

    def _derived(self, saved: Sequence[int]) -> tuple[tuple[int, ...], Callable[..., list[jax.Array]]]:
        """Return which inputs the gradients depend on, and what computes these of those inputs and the cotangents.

        saved: inputs that it is given whether they are needed or not.
        """
        arguments = self.signature.arguments
        places = [i for i, a in enumerate(arguments) if type(a) is Aval or isinstance(a, type)]
        cotangents = [a.struct for a, given in zip(self.signature.avals, self.given, strict=True) if given]

        def pulled(given: list[Any], cotangents: list[Any]) -> Any:
            return self._pulled(inputs_from(arguments, given), cotangents)

        with jax.enable_x64(True):
            traced = jax.make_jaxpr(pulled)(structs_of(arguments), cotangents)
        outputs = [True] * len(self.wanted)
        if isinstance(self.signature.op, Pullback) and not _is_of_nothing(self.signature):
            # linear in the cotangents: what does not read them is zero
            _, reads = dce_jaxpr(traced.jaxpr, outputs)
            given = [i for i, is_given in enumerate(self.given) if is_given]
            self.constant = frozenset(
                [i for i, is_read in zip(given, reads[len(places) :], strict=True) if not is_read]
            )
        always = [place in saved for place in places] + [True] * len(cotangents)
        jaxpr, reads = dce_jaxpr(traced.jaxpr, outputs, always)
        used = tuple([place for place, is_read in zip(places, reads, strict=False) if is_read])
        return used, jaxpr_as_fun(ClosedJaxpr(jaxpr, traced.consts))

    def _pulled(self, inputs: list[Any], cotangents: Sequence[Any]) -> Any:
        """Derive the gradients. inputs: all that the op takes."""
        op, statics, wanted = self.signature.op, self.signature.statics, self.wanted

        def forward(*primals: Any) -> list[jax.Array]:
            full = list(inputs)
            for place, primal in zip(wanted, primals, strict=True):
                full[place] = primal
            return [result for result, given in zip(op.call(full, statics), self.given, strict=True) if given]

        _, pull = jax.vjp(forward, *[inputs[i] for i in wanted])
        return conjugated(pull(conjugated(cotangents)))


class ResidualPullback(Pullback):
    """For keep="residuals": the forward is recorded with what jax.vjp kept of it, which the pull-back then reads."""

    __slots__ = ("forward",)

    def __init__(self, signature: Signature, wanted: tuple[int, ...], given: tuple[bool, ...] | None = None) -> None:
        super().__init__(signature, wanted, given)
        self.forward = ForwardHalf(signature, wanted)

    def pull(self, saved: tuple[Any, ...], cotangents: Sequence[Any], apply: Callable[..., Any]) -> Sequence[Any]:
        """Record the gradients from the residuals; where those are to be differentiated again, from the inputs."""
        inputs, residuals = saved
        if apply.keeps_history:  # type: ignore[attr-defined]  # set by the engine's two ways to apply
            return super().pull(super().save(inputs), cotangents, apply)
        given = tuple([c is not None for c in cotangents])
        half = BackwardHalf(self.forward, given)
        return apply(half.known(), (*residuals, *[c for c in cotangents if c is not None]), ())

    def pull_to(
        self, needed: Sequence[bool], saved: tuple[Any, ...], cotangents: Sequence[Any], apply: Callable[..., Any]
    ) -> Sequence[Any]:
        """Record the gradients of some of the wanted inputs, which are to be differentiated again."""
        some = pullback_of(self.signature, sum(1 << i for i, one in zip(self.wanted, needed, strict=True) if one))
        return some.pull(saved, cotangents, apply)

    def save(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Return all inputs; the residuals join them once they are recorded."""
        return tuple(inputs)

    def path_by_name(self, name: str, signature: Signature) -> tuple[int, ...] | None:
        """Return where the input with this name stands among the inputs, which were all saved."""
        return 0, _saved_place(signature, name)


def pullback_of(signature: Signature, wanted: int) -> Pullback:
    """Return the pull-back of this signature for the wanted inputs, derived once. wanted: bit i stands for input i."""
    found = signature.pullbacks.get(wanted)
    if found is None:
        opened = tuple([type(a.number) if is_open(a) else a for a in signature.arguments])
        if opened == signature.arguments:
            kind = ResidualPullback if signature.op.keep == "residuals" else Pullback
            places = tuple(i for i in range(len(opened)) if wanted >> i & 1)
            derive = partial(pullback_of, wanted=wanted)
            found = (kind is Pullback and _known_with_length_open(signature, wanted, derive)) or kind(signature, places)
        else:  # one for all numbers, which it reads like other inputs: the turns of a loop then differ in nothing else
            found = pullback_of(signature_of(signature.op, opened, signature.statics), wanted)
        signature.pullbacks[wanted] = found
    return found


def _known_with_length_open(signature: Signature, key: Any, derive: Callable[[Signature], Pullback]) -> Pullback | None:
    """Return the pull-back as `derive` makes it with a length open, for this length; None where it does not.

    key: by which it is kept among those of the signature with that length open.
    """
    general = signature.general
    if general is None:
        return None
    if key not in general.pullbacks:
        found = attempted(derive, general)
        general.pullbacks[key] = None if isinstance(found, Refusal) else found
    known = general.pullbacks[key]
    return known and known.made_anew(signature, known.wanted, known.given)


def _is_of_nothing(signature: Signature) -> bool:
    """Tell whether a call takes or gives something empty: torch's formulas run all the same."""
    known = [a for a in (*signature.arguments, *signature.avals) if type(a) is Aval]
    return any(0 in a.shape for a in known)


def _is_plain(x: Any) -> bool:
    """Tell whether an input is an array, or stands for one in a program that is traced: nothing is differentiated."""
    found = x.value if type(x) is Number else x
    return type(found) is DynamicJaxprTracer or (hasattr(found, "shape") and not isinstance(found, Tracer))


def _absent(argument: Any) -> Any:
    """Return what stands for an input that the gradients do not depend on: zeros of its shape, or the number itself."""
    if type(argument) is Aval:
        return jax.numpy.zeros(argument.shape, argument.dtype.numpy)
    return argument(0) if isinstance(argument, type) else argument and argument.number


def _place(signature: Signature, name: str) -> int:
    parameters = [p.name for p in signature.op.inputs]
    if name == "self":
        return 0
    return parameters.index(name) if name in parameters else -1


def _saved_place(signature: Signature, name: str) -> int:
    place = _place(signature, name)
    if place < 0:
        raise AttributeError(f"{signature.op.name} saved nothing of {name!r}")
    return place
