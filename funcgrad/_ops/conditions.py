"""What torch demands of the numbers it is given, not only of shapes: places that exist, probabilities, divisors.

A Condition serves twice: of numbers that the host has, at once; of numbers that a program computes, as an instruction
of that program. What is wrong is therefore told with operators and methods that numpy and JAX share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._base.dtypes import INTEGER, dtype
from funcgrad._base.errors import LinAlgError
from funcgrad._ops.table import Array, Demand, Dims, Index, Indices, Mask, Op
from funcgrad._ops.windows import unpooled_sizes


class Condition:
    """wrong(numbers, shape, *options) -> mask of what is refused. shape: that of the tensor the numbers are about.

    of_floats: whether it is about floats, or about integers; None: about all. To other numbers it does not apply.
    text: the message, in which {number} is the first wrong one, {place} where it stands in the flattened numbers,
    {size} the shape at the option `dim`, {count} the number of elements of that shape, and {an option} the option.
    """

    __slots__ = ("instruction", "kind", "of_floats", "options", "takes_dim", "text", "wrong")

    def __init__(self, kind: type[Exception], text: str, wrong: Callable[..., Any], of_floats: bool | None) -> None:
        self.kind, self.text, self.wrong, self.of_floats = kind, text, wrong, of_floats
        code = wrong.__code__
        self.options = code.co_varnames[2 : code.co_argcount]
        self.takes_dim = self.options[:1] == ("dim",)
        self.instruction = _instruction(wrong)

    def is_about(self, of: dtype) -> bool:
        """Tell whether it applies to numbers of a dtype."""
        if self.of_floats is None:
            return True
        return of.is_floating_point if self.of_floats else of.category == INTEGER

    def of(self, numbers: str, about: str = "None", *options: str, **constants: Any) -> Demand:
        """Return a row's demand: the parameters in which it has the numbers, the tensor they are about, the options.

        constants: the other options, where they are the same at every call.
        """
        words = (*options, *(repr(constants[name]) for name in self.options[len(options) :]))
        return Demand(self.instruction.name, (numbers, about, *words))

    def error(self, number: int, place: int, shape: Dims, options: tuple[Any, ...]) -> Exception:
        """Return the exception for a wrong number and its place."""
        named = dict(zip(self.options, options, strict=False))
        if "dim" in named:
            named.update(size=_size(shape, named["dim"]), dim=named["dim"] % max(len(shape), 1))
        return self.kind(self.text.format(**{"size": 1, "number": number, "place": place, **named,
                                             "count": math.prod(shape)}))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frames:
    """`count` frames of `n_fft` samples, `hop` apart, with a window amid each; the samples from `start` to `end`."""

    count: int
    n_fft: int
    hop: int
    width: int
    start: int
    end: int

    def overlaps(self) -> tuple[Any, Any]:
        """Return for each sample where it is in the windows of the frames that it may be in, and in which it is.

        Shape: both (samples, frames). Of many frames those in the middle are left out: they overlap as the others do.
        """
        reach = -(-self.n_fft // self.hop)
        whole = (self.count - 1) * self.hop + self.n_fft
        left_out = max(self.count - 3 * reach - 3, 0)
        end, head = min(self.end, whole), (2 * reach + 3) * self.hop
        if left_out and end > head:
            end = max(end - left_out * self.hop, head)
        samples = np.arange(self.start, end)[:, None]
        frames = samples // self.hop - np.arange(reach)
        places = samples - frames * self.hop - (self.n_fft - self.width) // 2
        is_there = (frames >= 0) & (frames < self.count - left_out) & (places >= 0) & (places < self.width)
        return places, is_there


class _Selection(Condition):
    """What `index_select` says of places that do not exist depends on where they were looked for."""

    def error(self, number: int, place: int, shape: Dims, options: tuple[Any, ...]) -> Exception:
        """Return the exception: of another kind along dimension 1, or where that dimension has no places at all."""
        dim = options[0] % max(len(shape), 1)
        if len(shape) > 1 and shape[dim] == 0:
            return RuntimeError("index_select(): self indexing axis dim should be positive")
        if dim == 1:
            return RuntimeError(f"INDICES element is out of DATA bounds, id={number} axis_dim={_size(shape, dim)}")
        return super().error(number, place, shape, options)


class _Unpooling(Condition):
    """Which says how large the volumes are, of what the call says of their windows."""

    __slots__ = ()

    def error(self, number: int, place: int, shape: Dims, options: tuple[Any, ...]) -> Exception:
        """Return the exception for a wrong number."""
        sizes = unpooled_sizes(shape, *options)
        shown = "x".join(map(str, (*sizes, 1) if len(sizes) == 1 else sizes))
        return self.kind(self.text.format(number=number, shown=shown))


NONE = np.False_  # no number is wrong
ALL_WELL = np.iinfo(np.int64).max
ROOM = 1 << 40  # places that a check has
_CHANCES = (
    "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please "
    "report an enhancement request to PyTorch.)"
)
BY_INSTRUCTION: dict[Op, Condition] = {}


def _instruction(wrong: Callable[..., Any]) -> Op:
    def check(
        faults: Array | None, number: Array | None, which: Index, numbers: Indices, about: Mask | None, options: Dims
    ) -> Any:
        """Add check number `which` to those before it.

        Result (): ALL_WELL, or which * ROOM + place for the first that failed and the first place where it did. Of
        integers, result (), (): the wrong number too, which it had if it was of integers.
        """
        mask = wrong(numbers, numbers.shape if about is None else about.shape, *options).reshape(-1)
        places = jnp.arange(mask.size) + jnp.asarray(which, np.int64) * ROOM  # which may be traced, in 32 bits
        here = jnp.min(jnp.where(mask, places, ALL_WELL))
        first = here if faults is None else jnp.minimum(faults, here)
        if numbers.dtype.kind not in "iu":
            return first
        found = jnp.max(jnp.where(places == here, numbers.reshape(-1).astype(np.int64), -ALL_WELL))
        if number is not None and faults is not None:
            found = jnp.where(here < faults, found, number)
        return first, found

    check.__name__ = wrong.__name__
    return Op(check, names="", numbers="checked")  # what is known of one check holds for all


def _condition(
    kind: type[Exception], text: str, *, of_floats: bool | None = False, made: type[Condition] = Condition
) -> Callable[[Callable[..., Any]], Condition]:
    """Make a function that tells what is wrong a Condition with this error."""

    def enter(wrong: Callable[..., Any]) -> Condition:
        condition = made(kind, text, wrong, of_floats)
        BY_INSTRUCTION[condition.instruction] = condition
        return condition

    return enter


def _outside(numbers: Any, size: int, wraps: bool = False) -> Any:
    """Tell which are not from 0 to size - 1: quickly if none, since without their sign negative ones are huge."""
    if type(numbers) is np.ndarray and numbers.dtype == np.int64 and int(numbers.view(np.uint64).max(initial=0)) < size:
        return NONE
    return (numbers < (-size if wraps else 0)) | (numbers >= size)


def _size(shape: Dims, dim: int) -> int:
    return shape[dim] if shape else 1


@_condition(RuntimeError, "index {number} is out of bounds for dimension {dim} with size {size}")
def are_places(numbers: Any, shape: Dims, dim: int) -> Any:
    """Places in one dimension, as `gather` and `scatter` take them."""
    return _outside(numbers, _size(shape, dim))


@_condition(IndexError, "{function}index {number} is out of bounds for dimension {dim} with size {size}")
def are_slices(numbers: Any, shape: Dims, dim: int, wraps: bool, function: str) -> Any:
    """Places in one dimension; with `wraps` negative ones count from the end."""
    return _outside(numbers, _size(shape, dim), wraps)


@_condition(IndexError, "index {number} is out of bounds for dimension {shown} with size {size}")
def are_indices(numbers: Any, shape: Dims, dim: int, shown: int) -> Any:
    """Places between brackets; negative ones count from the end. shown: the dimension as the user counts."""
    return _outside(numbers, _size(shape, dim), wraps=True)


@_condition(IndexError, "index out of range in self")
def are_rows(numbers: Any, shape: Dims, dim: int) -> Any:
    """Places in one dimension, as `embedding` takes them."""
    return _outside(numbers, _size(shape, dim))


@_condition(IndexError, "index out of range in self", made=_Selection)
def are_parts(numbers: Any, shape: Dims, dim: int) -> Any:
    """Places in one dimension, as `index_select` takes them."""
    return _outside(numbers, _size(shape, dim))


@_condition(IndexError, "out of range: tried to access index {number} on a tensor of {count} elements.")
def are_elements(numbers: Any, shape: Dims) -> Any:
    """Places in the flattened tensor; negative ones count from the end."""
    return _outside(numbers, math.prod(shape), wraps=True)


@_condition(RuntimeError, "Index {place} of input takes value {number} which is not in the valid range [0, {size})")
def are_rows_of_bags(numbers: Any, shape: Dims, dim: int) -> Any:
    """Rows of an embedding's weight, as `embedding_bag` takes them."""
    return _outside(numbers, shape[dim])


@_condition(
    RuntimeError,
    "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
    "{number}\n[ torch.LongTensor{{}} ]",
)
def begin_at_0(numbers: Any, shape: Dims) -> Any:
    """Offsets of bags, of which the first is 0."""
    return (numbers != 0) & ((numbers == numbers).cumsum() == 1)  # the first place, in numpy's words and JAX's


@_condition(RuntimeError, "offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {number}")
def end_inside(numbers: Any, shape: Dims) -> Any:
    """Offsets of bags, of which the last is no more than there are indices."""
    return (numbers > shape[0]) & ((numbers == numbers)[::-1].cumsum()[::-1] == 1) if shape else NONE


@_condition(IndexError, "Target {number} is out of bounds.")
def are_classes(numbers: Any, shape: Dims, ignored: int) -> Any:
    """Classes, which stand in dimension 1 of the scores (or 0, alone), or what is ignored."""
    if not shape:  # which the row refuses
        return NONE
    outside = _outside(numbers, shape[1 if len(shape) > 1 else 0])
    return outside if outside is NONE else outside & (numbers != ignored)


@_condition(RuntimeError, "target out of range")
def are_targets(numbers: Any, shape: Dims) -> Any:
    """Classes of a margin loss, which stand in the last dimension of the scores."""
    return _outside(numbers, _size(shape, -1))


@_condition(RuntimeError, "argument #2 'target' is out of range")
def are_several_targets(numbers: Any, shape: Dims) -> Any:
    """Classes of a margin loss with several for each sample; -1 ends their list."""
    return (numbers < -1) | (numbers >= _size(shape, -1))


@_condition(RuntimeError, "{message}", of_floats=True)
def are_not_negative(numbers: Any, shape: Dims, message: str) -> Any:
    """Rates, standard deviations; nan passes, as it does in torch."""
    return numbers < 0


@_condition(RuntimeError, "Class values must be non-negative.")
def are_from_0(numbers: Any, shape: Dims) -> Any:
    """Classes of `one_hot`."""
    return numbers < 0


@_condition(RuntimeError, "Class values must be smaller than num_classes.")
def are_below(numbers: Any, shape: Dims, classes: int) -> Any:
    """Classes of `one_hot`."""
    return numbers >= classes


@_condition(RuntimeError, "all elements of {name} should be between 0 and 1", of_floats=True)
def are_between_0_and_1(numbers: Any, shape: Dims, name: str) -> Any:
    """What `binary_cross_entropy` takes; nan is refused."""
    return ~((numbers >= 0) & (numbers <= 1))


@_condition(RuntimeError, _CHANCES, of_floats=True)
def are_chances(numbers: Any, shape: Dims) -> Any:
    """What `bernoulli` takes."""
    return ~((numbers >= 0) & (numbers <= 1))


@_condition(RuntimeError, "probability tensor contains either `inf`, `nan` or element < 0", of_floats=True)
def are_weights(numbers: Any, shape: Dims) -> Any:
    """What `multinomial` takes: finite and not negative."""
    return ~((numbers >= 0) & (numbers < np.inf))


@_condition(RuntimeError, "invalid multinomial distribution (encountering probability entry < 0)", of_floats=True)
def have_no_negative_weight(numbers: Any, shape: Dims) -> Any:
    """What `multinomial` takes for several places with replacement; nan is refused."""
    return ~(numbers >= 0)


@_condition(
    RuntimeError, "invalid multinomial distribution (encountering probability entry = infinity or NaN)", of_floats=True
)
def have_finite_weights(numbers: Any, shape: Dims) -> Any:
    """What `multinomial` takes for several places with replacement."""
    return numbers == np.inf


@_condition(RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)", of_floats=True)
def have_positive_sums(numbers: Any, shape: Dims) -> Any:
    """Rows of weights of which one at least is positive."""
    return ~(numbers > 0).any(-1)


@_condition(
    LinAlgError, "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
    of_floats=True,
)  # fmt: skip
def have_singular_values(numbers: Any, shape: Dims) -> Any:
    """Matrices of numbers: LAPACK finds something for infinities."""
    return numbers != numbers


@_condition(RuntimeError, "ZeroDivisionError", of_floats=None)
def are_divisors(numbers: Any, shape: Dims) -> Any:
    """What integers can be divided by."""
    return numbers == 0


@_condition(ValueError, "var has negative entry/entries", of_floats=True)
def are_variances(numbers: Any, shape: Dims) -> Any:
    """What `gaussian_nll_loss` takes."""
    return numbers < 0


@_condition(RuntimeError, "Expected input_lengths to have value at most {most}, but got value {number} (while checking "
            "arguments for ctc_loss_allocate_outputs)")  # fmt: skip
def are_lengths(numbers: Any, shape: Dims, most: int) -> Any:
    """Lengths of the inputs of `ctc_loss`."""
    return numbers > most


@_condition(RuntimeError, "Expected tensor to have size at least {number} at dimension 1, but got size {most} for "
            "argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)")  # fmt: skip
def are_padded_lengths(numbers: Any, shape: Dims, most: int) -> Any:
    """Lengths of the padded targets of `ctc_loss`."""
    return numbers > most


@_condition(RuntimeError, "Expected tensor to have the sum of target_lengths as its size at dimension 0, but got size "
            "{labels} for argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)")  # fmt: skip
def are_joined_lengths(numbers: Any, shape: Dims, labels: int) -> Any:
    """Lengths of targets of `ctc_loss` that are given end to end, `labels` in all."""
    return numbers.sum() != labels


@_condition(RuntimeError, "Number of elements of source < number of ones in mask", of_floats=None)
def is_small_mask(numbers: Any, shape: Dims, times: int) -> Any:
    """A mask, which broadcasting repeats `times`, that is true in no more places than a tensor has elements."""
    return numbers.sum() * times > math.prod(shape)


@_condition(RuntimeError, "lengths contains negative value!")
def are_run_lengths(numbers: Any, shape: Dims) -> Any:
    """Lengths of the runs of `segment_reduce`."""
    return numbers < 0


@_condition(RuntimeError, "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe.")  # fmt: skip
def are_whole_runs(numbers: Any, shape: Dims, dim: int) -> Any:
    """Lengths of runs that make up the whole dimension."""
    return numbers.sum(-1) != shape[dim]


@_condition(RuntimeError, "quantile() q values must be in the range [0, 1]", of_floats=True)
def are_quantiles(numbers: Any, shape: Dims) -> Any:
    """Parts of one."""
    return (numbers < 0) | (numbers > 1)


@_condition(ValueError, "The value is outside of {constraint!r}", of_floats=None)
def are_allowed(numbers: Any, shape: Dims, constraint: Any) -> Any:
    """What a constraint of `distributions` allows; its `check` is asked."""
    with np.errstate(all="ignore"):
        return ~constraint.check(numbers)


@_condition(ValueError, "Expected only what is true", of_floats=None)
def are_true(numbers: Any, shape: Dims) -> Any:
    """What came of a comparison that was recorded."""
    return ~numbers


@_condition(RuntimeError, "Expected Tensor with single nonzero value, but got zero", of_floats=None)
def are_not_zero(numbers: Any, shape: Dims) -> Any:
    """What is asserted, as `_assert_async` takes it."""
    return numbers == 0


@_condition(RuntimeError, "{message}", of_floats=True)
def are_no_turns(numbers: Any, shape: Dims, message: str) -> Any:
    """How fast a loss changes as vectors are multiplied by e^(i phi): not at all, to torch's tolerance of 1e-2."""
    return ~(numbers <= 1e-2)


@_condition(RuntimeError, "{message} window overlap add min: 1\n[ CPUBoolType{{}} ]", of_floats=True)
def leave_no_gaps(numbers: Any, shape: Dims, frames: Frames, message: str) -> Any:
    """A window whose squares, added up where frames overlap, are nowhere 0 in the signal that `istft` returns."""
    places, is_there = frames.overlaps()
    if not places.size:
        return NONE
    squares = (numbers * numbers)[np.where(is_there, places, 0)]
    return abs((squares * is_there).sum(-1)).min() < 1e-11


@_condition(RuntimeError, "Found an invalid max index: {number} (output volumes are of size {shown})", made=_Unpooling)
def are_unpooled(
    numbers: Any, shape: Dims, count: int, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Any:
    """Places in the volumes that `max_unpool` fills, of which the last `count` dimensions are the sizes."""
    if len(shape) not in (count + 1, count + 2):  # which the row refuses
        return NONE
    return _outside(numbers, math.prod(unpooled_sizes(shape, count, kernel_size, stride, padding, output_size)))
