"""plan(program, wanted) -> Plan: how a recorded straight line is run: what repeats as loops, all as one XLA program.

A line that is long even so is run in pieces, since XLA's compile time grows faster than a line's length. What is
planned is the path of Calls in the trie; nothing of tensors, the tape or the moment of recording reaches here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import jax

from funcgrad._base.config import settings
from funcgrad._program.alike import forget_numbers, with_changing_numbers_open
from funcgrad._program.apart import (
    InStages,
    Part,
    flattened,
    loss_first,
    parts_of,
    without_and_with_history,
    without_and_with_last,
    without_pieces,
    without_states,
    without_what_stays,
)
from funcgrad._program.compiling import options_for
from funcgrad._program.counters import counters
from funcgrad._program.episodes import is_of_episode, may_be_of_episode, ran_before
from funcgrad._program.host.planning import is_small, on_host, struct_of, struct_of_numbers
from funcgrad._program.host.running import OnHost
from funcgrad._program.lengths.family import Sample, family_of
from funcgrad._program.lengths.planning import Served, for_lengths_of_known_form, for_many_lengths
from funcgrad._program.lengths.symbol import Refusal
from funcgrad._program.line import Argument, Loop, Step, instructions_of, line_of, needed_calls
from funcgrad._program.parts import InParts, loops_were_seen, parts_seldom_come_back, turns_varied, turns_vary
from funcgrad._program.pieces import InPieces
from funcgrad._program.planned import Plan, Seen, Sources
from funcgrad._program.renting import Rented, rented, size_of
from funcgrad._program.rolling import LONG, rolled
from funcgrad._program.stepwise import (
    AT_ONCE,
    COMPILE,
    COSTLY,
    ELEMENT,
    InSteps,
    are_known,
    cost_more_than_whole,
    costs_little,
    has_turns,
    is_costly,
    is_nearly_known,
    is_novel,
    is_painted,
    needs_no_compile,
    note_kinds,
    note_plan,
    note_return,
    runs_on_host,
    seldom_come_back,
)
from funcgrad._program.transposes import with_waiting_transposes
from funcgrad._program.trie import Call
from funcgrad._program.value import Aval
from funcgrad._program.whole import Whole, donations

SHORT = 24  # instructions: a line of so many is compiled whole, however often its loops turn
LOOP = 48  # instructions: a line of more that is turns of a loop is not compiled at first sight
BESIDES = 8  # times what stands beside its loops, of a line that is mostly turns
CALL = 60e-6  # seconds that a program more is taken to cost each run
SHARE = 8  # lengths that are taken to share what has less room than the ample one that they run in
FEW = 4  # instructions: a line of so many is compiled whole, even if it will not come back
_FOUND = "its lengths were found in the data"
_BY_NUMPY = "run by numpy until it has run often"
_OTHER_PARTS = "its parts hardly ever came back of late"
_EXECUTABLES: WeakValueDictionary[Any, Any] = WeakValueDictionary()  # of whole lines, by what they compute


def plan(
    last: Call,
    wanted: Sequence[int],
    free: Sequence[int],
    leaf_avals: Sequence[Aval],
    *,
    history: int | None = None,
    finds: bool = False,
    read: int | None = None,
    before: Plan | None = None,
) -> Plan:
    """Return how to run the program that ends with `last`.

    wanted: the numbers of the results to return. free: the numbers of the leaves that nobody needs afterwards, whose
    memory may be reused. leaf_avals: what is known of each leaf. history: the first result that has one. finds: whether
    it reads places that were found by looking at values. read: the result that somebody waits for. before: how it was
    run until now, so often that a compile is worth it.
    """
    seen, is_data = Seen.NOT_OFTEN if before is None else before.seen, history is None
    calls = needed_calls(last.path(), wanted)
    leaves = range(-1, -1 - len(leaf_avals), -1)
    whole = Part(calls, leaves, range(last.numbers), wanted, wanted, free, leaf_avals)
    if before is not None and isinstance(before.execute, InStages) and before.execute.renting:
        return _with_due_stages_compiled(before.execute, whole, read)
    if before is None and _may_be_taken_apart(leaf_avals):
        data, rest = _data_and_rest(calls, history)
        states, late = without_states(rest, wanted)
        early = [*data, *states]
        if len(late) <= SHORT and not any(map(is_costly, late)):
            early, late = without_what_stays(data, rest, wanted) if history is not None else ([], calls)
        if early:
            one, other = parts_of(early, late, wanted, free, leaf_avals)
            planned = _planned(one, is_data=True), _planned(other, _inside(other, read), is_data=is_data, finds=finds)
            stages = list(zip((one, other), planned, strict=True))
            return _in_stages(stages, whole, spare=int(COMPILE * len(calls) / CALL))
    return _planned(whole, read, seen, is_data=is_data, finds=finds)


def _inside(part: Part, result: int | None) -> int | None:
    """Return which result of a part this result of the whole is; None if it is none."""
    return part.wanted[part.results.index(result)] if result in part.results else None


def _with_due_stages_compiled(stages: InStages, whole: Part, read: int | None) -> Plan:
    """Return how to run a program in the same stages, of which those that ran often are compiled."""
    made = list(stages.stages)
    for turn in stages.due:
        part, before = made[turn]
        made[turn] = part, _planned(part, _inside(part, read), before.seen)
    staged = _in_stages(made, whole, spare=stages.whole)
    staged.is_new = any(made[turn][1].is_new for turn in stages.due)
    return staged


def _data_and_rest(calls: Sequence[Call], history: int | None) -> tuple[list[Call], list[Call]]:
    return without_and_with_last(calls) if history is None else without_and_with_history(calls, history)


def _in_stages(stages: Sequence[tuple[Part, Plan]], whole: Part, *, spare: int = -1) -> Plan:
    flat: list[tuple[Part, Plan]] = []
    for part, made in stages:
        flat += flattened(part, made.execute.stages) if isinstance(made.execute, InStages) else [(part, made)]
    execute = InStages(flat, whole.wanted, len(whole.avals), spare=spare)
    leaves, order = range(len(whole.avals)), range(len(whole.wanted))
    return Plan(execute, (), leaves, order, is_new=any(made.is_new for _, made in stages), note=stages[-1][1].note)


def _may_be_taken_apart(leaf_avals: Sequence[Aval]) -> bool:
    return settings.turns > 0 and all(aval.placement is None for aval in leaf_avals)


def _planned(
    part: Part, read: int | None = None, seen: Seen = Seen.NOT_OFTEN, *, is_data: bool = False, finds: bool = False
) -> Plan:
    """Return how to run these calls. read: a result that somebody waits for. is_data: whether none has a history."""
    known = _served_as_others(part) if seen is Seen.NOT_OFTEN else None
    return known or _planned_as_a_line(part, read, seen, is_data=is_data, finds=finds, rents=seen < Seen.OFTEN)


def _planned_as_a_line(
    part: Part, read: int | None, seen: Seen, *, is_data: bool = False, finds: bool = False, rents: bool = False
) -> Plan:
    """Return how to run these calls, none of which was run at other lengths. rents: whether numpy may at first."""
    line, found = line_of(part.calls, part.wanted)
    if seen is Seen.NOT_OFTEN and _may_be_taken_apart(part.avals):
        in_parts = _in_parts(line, found, part)
        if in_parts is not None:
            return in_parts
    sources: Sources = None
    if len(line) > FEW:
        line, sources = with_changing_numbers_open(line, found, is_long=len(line) > SHORT)
    short, results = rolled(line, found, settings.turns, LONG) if settings.turns else (line, found)
    whole, small = None, None
    if sum(map(instructions_of, short)) <= settings.piece:
        donated = donations(part.calls, part.wanted, part.free, part.avals, copies=True)
        whole = Whole(short, results, part.wanted, donated, len(part.avals))
        if whole.key in _EXECUTABLES:
            return _plan_of_whole(whole, part, sources)
        small = _plan_if_small(whole, part, sources, rents=rents)
        if small is not None and isinstance(small.execute, OnHost):
            return small
    served, chosen, compiled = None, None, counters.parts
    if seen < Seen.AGAIN:
        served = _with_room_for_others(part, line, seen)
        if isinstance(served, Plan):
            return served
        if seen is Seen.NOT_OFTEN and _may_be_taken_apart(part.avals):
            varies = isinstance(served, Refusal)
            chosen = _not_as_a_whole(line, found, short, part, varies=varies, is_data=is_data, finds=finds)
            note_kinds(line)
    leaves, order = range(len(part.avals)), range(len(part.wanted))
    if chosen is not None:
        execute, note = chosen
        made = Plan(execute, (), leaves, order, is_new=counters.parts > compiled, note=note, sources=sources)
    elif (halves := _with_loss_first(part, read, short, rents=rents)) is not None:
        made = halves
    elif whole is None:
        made = _plan_of_pieces(Whole(short, results, part.wanted, {}, len(leaves)), results, len(leaves), sources)
    else:
        made = small or _with_pieces_apart(part, read) or _plan_of_whole(whole, part, sources, rents=rents)
    if chosen is None and whole is not None and len(line) > FEW:
        note_plan(made, len(line), is_long=len(line) > SHORT)
    if served:
        made.note = f"each length is compiled: {served.reason}"
    return made


def _in_parts(line: Sequence[Step | Loop], found: Sequence[Argument], part: Part) -> Plan | None:
    """Return how to run a line whose loops turn another number of times each time, or will; None for others.

    They will where they go over steps that have run: episodes seldom are as long as the one before.
    """
    if len(line) <= FEW or not (loops_were_seen() or any(map(may_be_of_episode, line))) or are_known(line):
        return None
    parted, results = rolled(line, found, 3, LONG, fold=False)
    if not _is_mostly_turns(parted, line) or not (turns_varied(parted) or is_of_episode(parted)):
        return None
    compiled, leaves, order = counters.parts, range(len(part.avals)), range(len(part.wanted))
    if _parts_cost_more(line):
        execute, note = _in_steps(line, found, part, size_of(parted), _OTHER_PARTS)
        return Plan(execute, (), leaves, order, is_new=counters.parts > compiled, note=note)
    execute = InParts(parted, results, part.avals)
    made = Plan(execute, (), leaves, order, is_new=counters.parts > compiled)
    if not turns_varied(parted):  # in parts an episode takes hardly longer than whole: the calls of the parts
        each = [step for whole in parted for step in (whole.body if isinstance(whole, Loop) else (whole,))]
        made.spare = max(made.spare, int(COMPILE * sum(map(instructions_of, each)) / (CALL * len(execute.parts))))
    return made


def _is_mostly_turns(parted: Sequence[Step | Loop], line: Sequence[Step | Loop]) -> bool:
    """Tell whether what a line has besides its loops is little, by itself or beside their turns."""
    return len(parted) <= max(LOOP, len(line) // BESIDES)


def _parts_cost_more(line: Sequence[Step | Loop]) -> bool:
    """Tell whether a line had better be run an instruction at a time than in parts, which would be others each time."""
    return parts_seldom_come_back() and costs_little(line)


def _in_steps(
    line: Sequence[Step | Loop], found: Sequence[Argument], part: Part, size: int, why: str
) -> tuple[InSteps, str]:
    return InSteps(line, found, len(part.avals), size=size), f"run an instruction at a time, since {why}"


def _with_pieces_apart(part: Part, read: int | None) -> Plan | None:
    """Return how to run a line that gives away what is gone over in two stages, the views one at a time.

    XLA takes a minute to compile two thousand results, also where the turns that make them are rolled up. None of lines
    that give no such views away, or that numpy cannot take.
    """
    computed, pieces = without_pieces(part.calls)
    if not pieces or not _may_be_taken_apart(part.avals):
        return None
    one, other = parts_of(computed, pieces, part.wanted, part.free, part.avals)
    given = other if computed else part
    line, found = line_of(given.calls, given.wanted)
    if not runs_on_host(line):
        return None
    execute, note = _in_steps(line, found, given, len(line), "it only gives parts away")
    execute.spare = sys.maxsize
    views = Plan(execute, (), range(len(given.avals)), range(len(given.wanted)), is_new=False, note=note)
    return _in_stages([(one, _planned(one, _inside(one, read))), (given, views)], part) if computed else views


def _with_loss_first(part: Part, read: int | None, short: Sequence[Step | Loop], *, rents: bool) -> Plan | None:
    """Return how to run a training step whose loss is read in two stages; None if it had better be one.

    Convolutions had: what they hand on would be written in torch's order of dimensions, which is not XLA's. Loops had:
    what they hand on is one array for all turns. On other devices than a CPU it was not measured.
    """
    is_on_cpu = jax.default_backend() == "cpu" and _may_be_taken_apart(part.avals)
    if not is_on_cpu or any(isinstance(step, Loop) for step in short) or _convolves_on_cpu(short, part.avals):
        return None
    halves = None if read is None or not settings.ahead else loss_first(part, read, settings.ahead)
    if halves is None:
        return None
    return _in_stages([(half, _planned_as_a_line(half, None, Seen.OFTEN, rents=rents)) for half in halves], part)


def _with_room_for_others(part: Part, line: Sequence[Step | Loop], seen: Seen) -> Plan | Refusal | None:
    """Return how to run a part by an executable that serves other lengths too, or why it cannot be."""
    sample = Sample(part.calls, part.avals)
    for tight in (True,) if seen is Seen.OFTEN_WITH_AMPLE_ROOM else (False, True):
        served = for_many_lengths(sample, part.wanted, part.free, lambda: are_known(line), is_common=tight)
        if not isinstance(served, Served):
            return served
        made = _plan_of_served(served, part)
        if made.spare:
            return made
    return Refusal("most of the room for other lengths would be empty")


def _served_as_others(part: Part) -> Plan | None:
    """Return how to run a part as others like it were run at other lengths: nothing else has to be asked of it then."""
    if len(part.calls) <= SHORT:
        return None
    served = for_lengths_of_known_form(Sample(part.calls, part.avals), part.wanted, part.free)
    made = served and _plan_of_served(served, part)
    return made if made and made.spare else None


def _plan_of_served(served: Served, part: Part) -> Plan:
    """Return how to run a line by an executable that serves many: as often as its own is worth the elements more."""
    execute, whole = served.execute, served.whole
    note = f"compiled for lengths up to {' x '.join(map(str, execute.roomy.rooms))}"
    free = set(part.free)
    made = Plan(execute, whole.given, whole.kept, whole.order, is_new=served.is_new, note=note, free=free)
    instructions = len(part.calls) + COSTLY * sum(map(is_costly, part.calls))
    worth = COMPILE * instructions / (SHARE if execute.is_ample else 1)
    made.spare = min(made.spare, int(worth / (ELEMENT * max(1, execute.waste))))
    return made


def _plan_if_small(whole: Whole, part: Part, sources: Sources, *, rents: bool) -> Plan | None:
    """Return how to run a line that numpy may run, for it may be more than it looks; None for larger ones.

    None too where numpy refused another of its family, or ran many: then one executable had better serve all of these.
    """
    if not is_small(whole.line, part.avals):
        return None
    family = family_of(Sample(part.calls, part.avals), part.wanted)
    if family is not None and not family.may_go_to_host:
        return None
    made = _plan_of_whole(whole, part, sources, rents=rents)
    if family is not None:
        family.note_host(runs=isinstance(made.execute, OnHost))
        # later ones are mostly other lengths: no word of them
        made.is_new = not family.is_for_host or family.waited <= settings.lengths
    return made


def _plan_of_whole(whole: Whole, part: Part, sources: Sources, *, rents: bool = False) -> Plan:
    """Return how to run a line with one executable: that of an earlier line that computes the same, if there is one.

    rents: whether it may be numpy's at first.
    """
    execute = _EXECUTABLES.get(whole.key)
    is_new = execute is None
    if execute is None:
        traced = with_waiting_transposes(whole.step) if _convolves_on_cpu(whole.line, part.avals) else whole.step
        execute = jax.jit(traced, donate_argnums=(0,), compiler_options=options_for(whole.line))
        given, kept = ([struct_of(part.avals[i]) for i in leaves] for leaves in (whole.given, whole.kept))
        numbers = struct_of_numbers(len(part.numbers if sources is None else sources))
        inputs = given, kept, numbers
        may_rent = rents and _may_be_taken_apart(part.avals)
        execute = (
            on_host(execute, whole.line, part.avals, *inputs)
            or (may_rent and rented(execute, whole.line, inputs, len(part.wanted)))
            or execute
        )
        _EXECUTABLES[whole.key] = execute
    else:
        note_return(execute)
    note, free = _BY_NUMPY if isinstance(execute, Rented) else "", set(part.free)
    return Plan(execute, whole.given, whole.kept, whole.order, is_new=is_new, note=note, sources=sources, free=free)


def _plan_of_pieces(whole: Whole, results: Sequence[Argument], leaves: int, sources: Sources) -> Plan:
    """Return how to run a line piece by piece: as an earlier line that computes the same, if there is one."""
    execute = _EXECUTABLES.get((whole.key, settings.piece))
    is_new = execute is None
    if execute is None:
        execute = _EXECUTABLES[whole.key, settings.piece] = InPieces(whole.line, results, settings.piece)
    return Plan(execute, (), range(leaves), whole.order, is_new=is_new, sources=sources)


def _not_as_a_whole(
    line: Sequence[Step | Loop],
    found: Sequence[Argument],
    short: Sequence[Step | Loop],
    part: Part,
    *,
    varies: bool,
    is_data: bool,
    finds: bool,
) -> tuple[InSteps | InParts, str] | None:
    """Return how to run a line that hardly comes back as it is, and why; None for one to be compiled whole.

    short: the line with its long loops rolled. varies: it came in other lengths, and no executable serves them.
    is_data: none of its results has a history. finds: it reads places that were found by looking at values.
    """
    if len(line) <= FEW:
        return None
    is_new, is_loop = not are_known(line), len(short) > LOOP and has_turns(_with_few_turns_written_out(line, short))
    if len(line) > SHORT and (is_new or (not is_loop and len(line) > LONG)):
        parted, results = rolled(line, found, 3, LONG, fold=False)
        if turns_vary(parted) and (_is_mostly_turns(parted, line) or (is_new and not is_loop)):
            if _parts_cost_more(line):
                return _in_steps(line, found, part, size_of(short), _OTHER_PARTS)
            return InParts(parted, results, part.avals), ""
    turns = is_loop or (len(short) > LOOP and any(map(ran_before, line)))
    if turns and not cost_more_than_whole(line, size_of(short)):
        why = "it is a few turns of a loop"
    elif seldom_come_back(is_long=len(line) > SHORT) and not is_novel(line):
        why = "programs hardly ever came back of late"
    elif not is_new:
        why = "each of them is compiled already"
    elif is_nearly_known(line, size_of(short)):
        why = "nearly each of them is compiled already"
    elif is_data and len(line) > LOOP and needs_no_compile(line, part.free):
        why = "it is data, which numpy prepares"
    elif varies and len(line) <= SHORT:
        why = "its lengths are others each time"
    elif finds and len(short) == len(line) and costs_little(line):
        why = _FOUND
    elif _is_another_length(part) and len(short) == len(line) and costs_little(line):
        why = "it came at another length before"
    elif is_data and len(short) == len(line) and is_painted(line) and costs_little(line):
        why = "it makes data of little, by a few kinds of instructions"
    else:
        return None
    execute, note = _in_steps(line, found, part, size_of(short), why)
    if why is _FOUND:
        execute.spare = AT_ONCE  # at the same lengths again: then it does come back
    return execute, note


def _with_few_turns_written_out(line: Sequence[Step | Loop], short: Sequence[Step | Loop]) -> Sequence[Step | Loop]:
    """Return the line as it was recorded if its loops are of few turns, rolled since these are long; else as it is."""
    turns = [step.turns for step in short if isinstance(step, Loop)]
    return line if max(turns, default=0) < settings.turns else short


def _is_another_length(part: Part) -> bool:
    """Tell whether such a part came at another length before."""
    family = family_of(Sample(part.calls, part.avals), part.wanted)
    return family is not None and family.has_others


def _convolves_on_cpu(line: Sequence[Step | Loop], leaf_avals: Sequence[Aval]) -> bool:
    """Tell whether transposes should wait (`python -m tests.benchmarks.steps --workloads conv`)."""
    if not any(isinstance(step, Step) and "conv" in step.op.name for step in line):
        return False
    placed = (aval.placement for aval in leaf_avals if aval.placement is not None)
    device = next((next(iter(placement.device_set)) for placement in placed), None)
    return (jax.default_backend() if device is None else device.platform) == "cpu"


def forget_executables() -> None:
    """Begin anew: no line was compiled before."""
    _EXECUTABLES.clear()
    forget_numbers()
