"""Random training loops: turns that read, branch, write in place and remember, of varying numbers and batches.

What a turn does is a list of small integers, as in `programs`; how losses are gathered, what is read, where the history
is cut, and how long each iteration is, are drawn beside it. Every torch-like module runs the same loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

WIDTH, LONGEST, WIDEST, KEPT = 4, 40, 6, 3
Step = tuple[int, int, int, int]  # what, to which register, with which other, a number


class Loop(NamedTuple):
    """A training loop. body: what a turn does; after: what is done with what all turns gave.

    turns, batches: of each iteration, over and over. cut: detach after so many turns (0: never).
    """

    body: list[Step]
    after: list[int]
    loss: int
    cut: int
    rule: int
    turns: list[int]
    batches: list[int]
    reads_loss: bool
    iterations: int


class Trainer:
    """Runs one loop on `torch`, which may be funcgrad or PyTorch."""

    def __init__(self, torch: Any, loop: Loop) -> None:
        self.torch, self.loop = torch, loop
        rng = np.random.default_rng(0)
        self.data = torch.tensor(rng.standard_normal((LONGEST, WIDEST, WIDTH)))
        self.weights = [torch.tensor(rng.standard_normal((WIDTH, WIDTH)) * 0.5).requires_grad_() for _ in range(3)]
        self.biases = [torch.tensor(rng.standard_normal(WIDTH) * 0.1).requires_grad_() for _ in range(2)]
        self.sequence = torch.tensor(rng.standard_normal((LONGEST, WIDTH)) * 0.1).requires_grad_()
        torch.manual_seed(0)
        self.cell = torch.nn.GRUCell(WIDTH, WIDTH, dtype=torch.float64)
        self.squashed = _squashing(torch)
        self.parameters = [*self.weights, *self.biases, self.sequence, *self.cell.parameters()]
        self.optimizer = [
            lambda: torch.optim.SGD(self.parameters, 0.05, momentum=0.9),
            lambda: torch.optim.Adam(self.parameters, 0.01),
            lambda: torch.optim.RMSprop(self.parameters, 0.005),
        ][loop.rule % 3]()
        self.turn = 0
        self.seen: list[float] = []
        self.memory: list[Any] = []
        self.rewards: list[float] = []
        self.buffer: Any = None
        self.states: Any = None

    def run(self) -> dict[str, Any]:
        """Run the loop and return all that can be seen of its effect."""
        loop = self.loop
        for i in range(loop.iterations):
            turns = loop.turns[i % len(loop.turns)]
            batch = loop.batches[i % len(loop.batches)]
            self.optimizer.zero_grad(set_to_none=i % 3 > 0)
            loss = self._iteration(turns, batch)
            if loss is not None and loss.requires_grad:
                loss.backward()
            if loop.rule > 2:
                norm = self.torch.nn.utils.clip_grad_norm_(self.parameters, 0.5)
                if loop.rule > 3:
                    self.seen.append(float(norm))
            self.optimizer.step()
            if loop.reads_loss and loss is not None:
                self.seen.append(loss.item())
        return {
            "seen": self.seen,
            "parameters": [parameter.detach().numpy().copy() for parameter in self.parameters],
            "gradients": [None if p.grad is None else p.grad.numpy().copy() for p in self.parameters],
        }

    def _iteration(self, turns: int, batch: int) -> Any:
        """Go through the turns; return the loss of those that were not sent backwards yet."""
        torch, loop = self.torch, self.loop
        hidden = torch.zeros(batch, WIDTH, dtype=torch.float64)
        cell = torch.ones(batch, WIDTH, dtype=torch.float64)
        self.memory, self.rewards, self.states = [], [], None
        self.buffer = torch.zeros(KEPT, WIDTH, dtype=torch.float64)
        losses: list[Any] = []
        states: list[Any] = []
        for self.turn in range(turns):
            registers = [hidden, cell, self.data[self.turn][:batch]]
            for what, which, other, number in loop.body:
                one, two = registers[which % len(registers)], registers[other % len(registers)]
                registers.append(STEPS[what % len(STEPS)](self, one, two, number))
            hidden, cell = torch.tanh(registers[-1]), registers[-2] * 0.5
            losses.append(self._loss_of_turn(hidden))
            states.append(hidden)
            if loop.cut and self.turn % loop.cut == loop.cut - 1 and self.turn + 1 < turns:
                loss = self._gathered(losses)
                if loss.requires_grad:
                    loss.backward()
                losses.clear()
                states.clear()
                self.rewards.clear()
                hidden, cell = hidden.detach(), cell.detach()
                self.buffer = self.buffer.detach()
                self.states = None if self.states is None else self.states.detach()
                self.memory = [kept.detach() for kept in self.memory]
        loss = self._gathered(losses)
        for what in loop.after:
            loss = loss + AFTER[what % len(AFTER)](self, states)
        return loss

    def _loss_of_turn(self, hidden: Any) -> Any:
        if self.loop.loss % 4 == 3:
            chosen = self.torch.log_softmax(hidden, 1)
            self.rewards.append(float(hidden.detach()[0].argmax()) - 1.0)
            return chosen[:, self.turn % WIDTH].mean()
        return (hidden * hidden).mean()

    def _gathered(self, losses: list[Any]) -> Any:
        """Return one loss of those of the turns."""
        kind = self.loop.loss % 4
        if kind == 0:
            return sum(losses)
        if kind == 1:
            return self.torch.stack(losses).mean()
        if kind == 2:
            return losses[-1]
        later, returns = 0.0, []
        for reward in reversed(self.rewards):
            later = reward + 0.9 * later
            returns.insert(0, later)
        return -sum(one * value for one, value in zip(losses, returns, strict=True)) / len(losses)


def _linear(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return trainer.torch.nn.functional.linear(one, trainer.weights[number % 3], trainer.biases[number % 2])


def _gated(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    gate = trainer.torch.sigmoid(one @ trainer.weights[number % 3])
    return gate * one + (1 - gate) * two


def _scaled_by_turn(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one * (1 + 0.01 * number * trainer.turn)


def _chosen(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return trainer.torch.where(one > 0.1 * number, one, two * 0.5)


def _joined(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    place = 1 + number % (WIDTH - 1)
    return trainer.torch.cat([one[:, :place], two[:, place:]], 1)


def _normed(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one / (1 + one.square().mean(number % 2, keepdim=True))


def _written(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    own = one * 1.0
    own[:, number % WIDTH] = two[:, 0]
    return own.mul_(0.9)


def _added(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return (one * 0.5).add_(two, alpha=0.1 * number)


def _detached(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one.detach() * 0.5 + two


def _remembered(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    """Attend to what was kept of the turns before."""
    trainer.memory.append(one)
    stacked = trainer.torch.stack(trainer.memory[-4:] if number % 2 else trainer.memory)
    weights = trainer.torch.softmax((stacked * two).sum(-1), 0)
    return (weights[..., None] * stacked).sum(0)


def _kept(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    """Write a row of the memory, and read all of it."""
    trainer.buffer = trainer.buffer.clone()
    trainer.buffer[trainer.turn % KEPT] = one.mean(0)
    return two + trainer.buffer.mean(0)


def _read(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    value = one.detach().mean().item()
    trainer.seen.append(value)
    return two * (0.5 + 0.1 * max(-1.0, min(1.0, value)))


def _branched(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one * 0.9 if bool(one.sum() > 0.1 * number) else two + 0.1


def _picked(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one.gather(1, two.argmax(1, keepdim=True)) * two


def _sampled(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    """Let Python choose a column by what it reads."""
    column = int(one[0].argmax())
    trainer.seen.append(float(column))
    return two + one[:, column : column + 1]


def _layer_normed(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    uneven = one + trainer.data[trainer.turn][: len(one)]  # of equal numbers only rounding would be left
    return trainer.torch.nn.functional.layer_norm(uneven, (WIDTH,), weight=trainer.biases[number % 2])


def _masked(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    mask = trainer.torch.tensor([float(i % 2 == trainer.turn % 2) for i in range(WIDTH)], dtype=one.dtype)
    return one * mask + two * (1 - mask)


def _sometimes(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one.tanh() if trainer.turn % (2 + number) == 0 else two * 1.1


def _without_history(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    with trainer.torch.no_grad():
        scale = one.abs().mean(1, keepdim=True) + 1
    return two / scale


def _summed(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return trainer.torch.cumsum(one, number % 2) * 0.3 + two.flip(1)


def _rectified(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one.relu() + two


def _of_sequence(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one + trainer.sequence[trainer.turn]


def _looked_up(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return two + trainer.torch.nn.functional.embedding(one.argmax(1), trainer.weights[number % 3])


def _by_cell(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return trainer.cell(one, two)


def _with_holes(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return trainer.torch.nn.functional.dropout(one, 0.1 * number)


def _squashing(torch: Any) -> Any:
    """Return a function with a backward of its own."""

    class Squashing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, scale: float) -> Any:
            result = torch.tanh(x * scale)
            ctx.save_for_backward(result)
            ctx.scale = scale
            return result

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (result,) = ctx.saved_tensors
            return grad * (1 - result * result) * ctx.scale, None

    return Squashing.apply


def _squashed(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return trainer.squashed(one, 0.5 + 0.1 * number)


def _hooked(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    made = one * 1.0
    if made.requires_grad:
        made.register_hook(lambda grad: grad.clamp(-0.1 * number, 1.0))
    return made


def _adapted(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    """Take a step of gradient descent on the way, through which the gradient flows.

    The inner loss sees nothing of the turns before: else the graph would double with each.
    """
    weight = trainer.weights[number % 3]
    inner = (one.detach() @ weight - two.detach()).square().mean()
    (grad,) = trainer.torch.autograd.grad(inner, weight, create_graph=True)
    return one @ (weight - 0.1 * grad)


def _sorted(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return one.sort(1, descending=number % 2 == 0)[0] * 0.5 + two


def _spread(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    return (one - one.mean(1, keepdim=True)) / (one.std(1, keepdim=True) + 0.5)


def _recomputed(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    weight = trainer.weights[number % 3]
    checkpoint = trainer.torch.utils.checkpoint.checkpoint
    return checkpoint(lambda x, y: trainer.torch.tanh(x @ weight) * y, one, two, use_reentrant=False)


def _by_column(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    """Add the same column in each turn, as much of it as the turn says."""
    return one + trainer.weights[number % 3][:, number] * trainer.sequence[trainer.turn, 0]


def _by_rows(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    """Mix the same row and the same rows in each turn, and one of this turn's."""
    weight = trainer.weights[number % 3]
    return one * weight[number] + two @ weight[:2].t().repeat(1, 2) * trainer.data[trainer.turn, 0, number]


def _filled(trainer: Trainer, one: Any, two: Any, number: int) -> Any:
    """Write what was found to this turn's row of something that keeps all."""
    if trainer.turn == 0 or trainer.states is None:
        trainer.states = trainer.torch.zeros(LONGEST, WIDTH, dtype=trainer.torch.float64)
    trainer.states = trainer.states.clone() if number else trainer.states
    trainer.states[trainer.turn] = one.mean(0)
    return two + trainer.states[trainer.turn - number % (trainer.turn + 1)]


STEPS: list[Callable[[Trainer, Any, Any, int], Any]] = [
    _linear, _gated, _linear, lambda trainer, one, two, number: one * two, lambda trainer, one, two, number: one.tanh(),
    lambda trainer, one, two, number: one - 0.1 * number * two, _scaled_by_turn, _chosen, _joined, _normed, _written,
    _added, _detached, _remembered, _kept, _read, _branched, _picked, _sampled, _layer_normed, _masked, _sometimes,
    _without_history, _summed, lambda trainer, one, two, number: one.softmax(1), _rectified,
    _of_sequence, _looked_up, _by_cell, _with_holes, _squashed, _hooked, _adapted, _sorted, _spread, _recomputed,
    _by_column, _by_rows, _filled,
]  # fmt: skip


def _ends(trainer: Trainer, states: list[Any]) -> Any:
    whole = trainer.torch.stack(states, 1)
    return whole[:, -1].square().mean() + whole[:, 0].sin().mean()


def _same_places(trainer: Trainer, states: list[Any]) -> Any:
    whole = trainer.torch.stack(states, 1)
    one, two, three = [x[:, -1] for x in (whole.exp(), whole.sin(), whole.tanh())]
    return (one - two * three).mean()


def _attended(trainer: Trainer, states: list[Any]) -> Any:
    torch, whole = trainer.torch, trainer.torch.stack(states, 1)
    queries, keys, values = [whole @ weight for weight in trainer.weights]
    later = torch.ones(len(states), len(states), dtype=torch.bool).triu(1)
    scores = (queries @ keys.transpose(1, 2)).masked_fill(later, float("-inf"))
    return (scores.softmax(-1) @ values).square().mean()


def _masked_mean(trainer: Trainer, states: list[Any]) -> Any:
    torch, whole = trainer.torch, trainer.torch.stack(states, 1)
    lengths = torch.tensor([1 + (3 * i) % len(states) for i in range(len(whole))])
    mask = (torch.arange(len(states))[None] < lengths[:, None]).to(whole.dtype)
    return ((whole.sum(-1) * mask).sum(1) / lengths).square().mean()


def _told_apart(trainer: Trainer, states: list[Any]) -> Any:
    torch, whole = trainer.torch, trainer.torch.cat(states)
    targets = torch.arange(len(whole)) % WIDTH
    targets[::3] = -100
    targets[1 % len(whole)] = 0
    return torch.nn.functional.cross_entropy(whole @ trainer.weights[0], targets)


def _convolved(trainer: Trainer, states: list[Any]) -> Any:
    torch, whole = trainer.torch, trainer.torch.stack(states, 2)
    return torch.nn.functional.conv1d(whole, trainer.weights[1][..., None].expand(-1, -1, 3), padding=1).tanh().mean()


def _highest(trainer: Trainer, states: list[Any]) -> Any:
    values, places = trainer.torch.stack(states).max(0)
    return (values * (places + 1)).mean()


def _padded(trainer: Trainer, states: list[Any]) -> Any:
    cut = [state[: 1 + i % len(state)] for i, state in enumerate(states)]
    return trainer.torch.nn.utils.rnn.pad_sequence(cut, batch_first=True).cumsum(0).square().mean()


def _differences(trainer: Trainer, states: list[Any]) -> Any:
    whole = trainer.torch.stack(states)
    return (whole[1:] - whole[:-1]).abs().sum() + whole.flip(0)[0].mean()


AFTER: list[Callable[[Trainer, list[Any]], Any]] = [
    _ends, _same_places, _attended, _masked_mean, _told_apart, _convolved, _highest, _padded, _differences,
]  # fmt: skip
