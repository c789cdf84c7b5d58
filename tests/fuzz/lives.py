"""Random lives of a model: trained, frozen, edited, copied, saved, loaded, averaged, given another optimizer.

A life is a list of small integers: what is done, and a number that says how. Every torch-like module leads the same
life, and what could be seen after each thing that was done is the same.
"""

from __future__ import annotations

import copy
import importlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np

IN, HIDDEN, OUT, WIDEST = 4, 5, 3, 6
Deed = tuple[int, int]  # what, how

RULES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.8, "nesterov": True}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.02, "betas": (0.5, 0.9)}),
    ("RMSprop", {"lr": 0.01, "centered": True, "momentum": 0.5}),
    ("Adagrad", {"lr": 0.05, "lr_decay": 0.1}),
    ("NAdam", {"lr": 0.01}),
    ("Adamax", {"lr": 0.01, "maximize": False}),
    ("Rprop", {"lr": 0.01}),
    ("ASGD", {"lr": 0.05, "t0": 2}),
]  # fmt: skip


class Life:
    """One model on `torch`, which may be funcgrad or PyTorch, and what surrounds it."""

    def __init__(self, torch: Any, kind: int, rule: int) -> None:
        self.torch, self.kind = torch, kind
        rng = np.random.default_rng(1)
        self.inputs = [torch.from_numpy(rng.standard_normal((WIDEST, IN))) for _ in range(4)]
        self.targets = [torch.from_numpy(rng.standard_normal((WIDEST, OUT))) for _ in range(4)]
        self.rng = np.random.default_rng(2)
        torch.manual_seed(0)
        self.model = self.ema = MODELS[kind % len(MODELS)](torch)
        self.model.double()
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.copy_(self.drawn(tuple(parameter.shape)))
        self.rule = rule
        self.ema = copy.deepcopy(self.model)
        self.begin_optimizer()
        self.kept: list[Any] = []
        self.handles: list[Any] = []
        self.seen: list[Any] = []
        self.turn = 0

    def drawn(self, shape: tuple[int, ...]) -> Any:
        return self.torch.from_numpy(np.asarray(self.rng.standard_normal(shape) * 0.5))

    def begin_optimizer(self) -> None:
        """Make an optimizer of two groups, and a schedule."""
        name, options = RULES[self.rule % len(RULES)]
        parameters = list(self.model.parameters())
        groups = [{"params": parameters[:2], "lr": 0.03}, {"params": parameters[2:]}]
        self.optimizer = getattr(self.torch.optim, name)(groups, **options)
        schedules = self.torch.optim.lr_scheduler
        self.schedule = [
            lambda: schedules.StepLR(self.optimizer, 2, 0.5),
            lambda: schedules.LambdaLR(self.optimizer, lambda epoch: 1 / (1 + epoch)),
            lambda: schedules.CosineAnnealingLR(self.optimizer, 5),
        ][self.rule % 3]()

    def parameter(self, how: int) -> Any:
        parameters = list(self.model.parameters())
        return parameters[how % len(parameters)]

    def loss(self, how: int) -> Any:
        """Return the loss on a batch, whose size is one of a few."""
        self.turn += 1
        rows = (WIDEST, WIDEST, 4, WIDEST, 2)[how % 5]
        inputs, targets = self.inputs[self.turn % 4][:rows], self.targets[self.turn % 4][:rows]
        return ((self.model(inputs) - targets) ** 2).mean()

    def lead(self, deeds: list[Deed]) -> list[Any]:
        """Do one thing after another; return what was seen."""
        for what, how in deeds:
            deed = DEEDS[what % len(DEEDS)]
            self.seen.append(deed.__name__)
            try:
                deed(self, how)
            except Exception as error:  # an error is part of what is seen; the same one has to come under both
                self.seen.append(f"{type(error).__name__}: {error}")
        self.look()
        return self.seen

    def note(self, *tensors: Any) -> None:
        for tensor in tensors:
            self.seen.append(None if tensor is None else np.array(tensor.detach().numpy()))

    def look(self) -> None:
        """Note all that can be seen of the model and its optimizer."""
        for name, parameter in self.model.named_parameters():
            self.seen.append((name, parameter.requires_grad, parameter.is_leaf))
            self.note(parameter, parameter.grad)
        self.note(*self.model.buffers(), *self.ema.parameters())
        for group in self.optimizer.param_groups:
            self.seen.append(float(group["lr"]))
            for parameter in group["params"]:
                state = self.optimizer.state.get(parameter, {})
                self.seen.append(sorted(state))
                for _, value in sorted(state.items()):
                    self.seen.append(value) if not hasattr(value, "numpy") else self.note(value)


def _perceptron(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(IN, HIDDEN), nn.Tanh(), nn.BatchNorm1d(HIDDEN), nn.Linear(HIDDEN, OUT))


def _tied(torch: Any) -> Any:
    class Tied(torch.nn.Module):
        """One weight read twice, one buffer that counts."""

        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(IN, HIDDEN)
            self.back = torch.nn.Linear(HIDDEN, IN)
            self.scale = torch.nn.Parameter(torch.ones(IN))
            self.head = torch.nn.Linear(IN, OUT)
            self.register_buffer("seen", torch.zeros(IN))

        def forward(self, x: Any) -> Any:
            hidden = torch.sigmoid(self.first(x))
            back = torch.nn.functional.linear(hidden, self.first.weight.t(), self.back.bias) * self.scale
            if self.training:
                with torch.no_grad():
                    self.seen += back.mean(0)
            return self.head(back)

    return Tied()


def _recurrent(torch: Any) -> Any:
    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = torch.nn.GRUCell(1, HIDDEN)
            self.norm = torch.nn.LayerNorm(HIDDEN)
            self.drop = torch.nn.Dropout(0.3)
            self.head = torch.nn.Linear(HIDDEN, OUT)

        def forward(self, x: Any) -> Any:
            hidden = x.new_zeros(len(x), HIDDEN)
            for column in x.split(1, 1):
                hidden = self.cell(column, hidden)
            return self.head(self.drop(self.norm(hidden)))

    return Recurrent()


MODELS: list[Callable[[Any], Any]] = [_perceptron, _tied, _recurrent]


def trains(life: Life, how: int) -> None:
    life.optimizer.zero_grad()
    loss = life.loss(how)
    loss.backward()
    life.optimizer.step()
    if how % 2:
        life.seen.append(loss.item())


def trains_by_closure(life: Life, how: int) -> None:
    def closure() -> Any:
        life.optimizer.zero_grad()
        loss = life.loss(how)
        loss.backward()
        return loss

    life.note(life.optimizer.step(closure))


def gathers(life: Life, how: int) -> None:
    (life.loss(how) / (1 + how % 3)).backward()


def steps(life: Life, how: int) -> None:
    life.optimizer.step()


def clears(life: Life, how: int) -> None:
    (life.model if how % 2 else life.optimizer).zero_grad(set_to_none=how % 3 == 0)


def clips(life: Life, how: int) -> None:
    utils = life.torch.nn.utils
    if all(parameter.grad is None for parameter in life.model.parameters()):
        return  # torch's clip_grad_value_ cannot take that
    if how % 2:
        life.seen.append(float(utils.clip_grad_norm_(life.model.parameters(), 0.1 * (1 + how), norm_type=1 + how % 2)))
    else:
        utils.clip_grad_value_(life.model.parameters(), 0.05)


def answers(life: Life, how: int) -> None:
    was = life.model.training
    life.model.eval()
    with life.torch.no_grad():
        life.note(life.model(life.inputs[how % 4]))
    life.model.train(was)


def changes_mode(life: Life, how: int) -> None:
    life.model.train(bool(how % 2))


def freezes(life: Life, how: int) -> None:
    parameter = life.parameter(how)
    parameter.requires_grad_(not parameter.requires_grad)
    if how % 2:
        parameter.grad = None


def edits(life: Life, how: int) -> None:
    parameter = life.parameter(how)
    with life.torch.no_grad():
        [
            lambda: parameter.mul_(0.9),
            lambda: parameter.add_(life.drawn(tuple(parameter.shape)), alpha=0.1),
            lambda: parameter.copy_(life.drawn(tuple(parameter.shape))),
            lambda: parameter[0].fill_(0.25),
            lambda: parameter.view(-1)[:2].neg_(),
            lambda: parameter.clamp_(-0.5, 0.5),
        ][how % 6]()


def edits_data(life: Life, how: int) -> None:
    parameter = life.parameter(how)
    if how % 3 == 0:
        parameter.data = parameter.data * 1.1
    elif how % 3 == 1:
        parameter.data.mul_(0.8)
    else:
        parameter.data[0] = 0.125


def edits_by_numpy(life: Life, how: int) -> None:
    array = life.parameter(how).detach().numpy()
    array *= 0.75


def edits_gradient(life: Life, how: int) -> None:
    parameter = life.parameter(how)
    if how % 4 == 0:
        parameter.grad = None
    elif how % 4 == 1:
        parameter.grad = life.drawn(tuple(parameter.shape))
    elif parameter.grad is not None:
        parameter.grad.mul_(0.5) if how % 4 == 2 else parameter.grad.zero_()


def keeps(life: Life, how: int) -> None:
    states = life.model.state_dict(), life.optimizer.state_dict(), life.schedule.state_dict()
    if how % 3 == 0:
        file = io.BytesIO()
        life.torch.save(states, file)
        life.kept.append(file)
    else:
        life.kept.append(copy.deepcopy(states) if how % 3 == 1 else states)  # or as it is: it follows the model


def returns(life: Life, how: int) -> None:
    if not life.kept:
        return
    kept = life.kept[how % len(life.kept)]
    if isinstance(kept, io.BytesIO):
        kept.seek(0)
        kept = life.torch.load(kept)
    model, optimizer, schedule = kept
    life.model.load_state_dict(model)
    if how % 4:
        life.optimizer.load_state_dict(optimizer)
        life.schedule.load_state_dict(schedule)


def looks_at_kept(life: Life, how: int) -> None:
    for kept in life.kept:
        if not isinstance(kept, io.BytesIO):
            life.note(*kept[0].values())


def becomes_a_copy(life: Life, how: int) -> None:
    state = life.optimizer.state_dict()
    life.model = copy.deepcopy(life.model)
    if how % 2:
        life.begin_optimizer()
        life.optimizer.load_state_dict(state)


def changes_optimizer(life: Life, how: int) -> None:
    life.rule, life.kept = how, []  # no rule goes on with what another has kept
    life.begin_optimizer()


def averages(life: Life, how: int) -> None:
    with life.torch.no_grad():
        for average, parameter in zip(life.ema.parameters(), life.model.parameters(), strict=True):
            if how % 2:
                average.mul_(0.9).add_(parameter, alpha=0.1)
            else:
                average.lerp_(parameter, 0.25)


def schedules(life: Life, how: int) -> None:
    life.schedule.step()


def changes_rate(life: Life, how: int) -> None:
    for group in life.optimizer.param_groups:
        group["lr"] = group["lr"] * 0.5 if how % 2 else 0.01 * (1 + how)


def edits_state(life: Life, how: int) -> None:
    parameter = life.parameter(how)
    state = life.optimizer.state.get(parameter, {})
    names = [name for name, value in sorted(state.items()) if hasattr(value, "numpy") and value.ndim]
    if names:
        state[names[how % len(names)]].mul_(0.5)


def forgets_state(life: Life, how: int) -> None:
    if how % 2:
        life.optimizer.state.clear()
    else:
        life.optimizer.state.pop(life.parameter(how), None)


def replaces(life: Life, how: int) -> None:
    """The optimizer goes on with the parameter that was there before."""
    nn, name = life.torch.nn, [name for name, _ in life.model.named_parameters()][how % 4]
    path, _, last = name.rpartition(".")
    owner = life.model.get_submodule(path)
    setattr(owner, last, nn.Parameter(getattr(owner, last).detach().clone()))


def adds_group(life: Life, how: int) -> None:
    if len(life.optimizer.param_groups) < 4:
        extra = life.torch.nn.Parameter(life.drawn((OUT,)))
        life.model.register_parameter(f"extra{len(life.optimizer.param_groups)}", extra)
        life.optimizer.add_param_group({"params": [extra], "lr": 0.02})
        ((extra - 1) ** 2).sum().backward()


def hooks(life: Life, how: int) -> None:
    if life.handles and how % 3 == 0:
        life.handles.pop().remove()
        return
    parameter = life.parameter(how)
    if how % 3 == 1 and parameter.requires_grad:
        life.handles.append(parameter.register_hook(lambda gradient: gradient * 2))
    else:
        layer = next(iter(life.model.children()))
        life.handles.append(layer.register_forward_hook(lambda _, __, output: output * 1.5))


def penalises(life: Life, how: int) -> None:
    if life.torch.nn.utils.parametrize.is_parametrized(list(life.model.children())[-1]):
        return  # torch's second derivative of weight_norm is not what differences say
    wanted = [parameter for parameter in life.model.parameters() if parameter.requires_grad]
    gradients = life.torch.autograd.grad(life.loss(how), wanted, create_graph=True, allow_unused=True)
    sum((gradient**2).sum() for gradient in gradients if gradient is not None).backward()


def goes_back_twice(life: Life, how: int) -> None:
    loss = life.loss(how)
    loss.backward(retain_graph=True)
    if how % 2:
        life.note(life.parameter(how).grad)
    loss.backward()


def trains_a_part(life: Life, how: int) -> None:
    parameter = life.parameter(how)
    life.optimizer.zero_grad(set_to_none=bool(how % 2))
    (parameter**2).sum().backward()
    life.optimizer.step()


def flattens(life: Life, how: int) -> None:
    utils, parameters = life.torch.nn.utils, list(life.model.parameters())
    vector = utils.parameters_to_vector(parameters).detach()
    utils.vector_to_parameters(vector * 0.95, parameters)


def goes_down_by_hand(life: Life, how: int) -> None:
    life.loss(how).backward()
    for parameter in life.model.parameters():
        if parameter.grad is None:
            continue
        if how % 2:
            parameter.data.add_(parameter.grad.data, alpha=-0.05)
        else:
            with life.torch.no_grad():
                parameter -= 0.05 * parameter.grad
            parameter.grad.zero_()


def gathers_in_one_loss(life: Life, how: int) -> None:
    total = 0.0
    for batch in range(1 + how % 3):
        total = total + life.loss(how + batch)
    life.optimizer.zero_grad()
    total.backward()
    life.optimizer.step()


def goes_back_from_two(life: Life, how: int) -> None:
    losses = [life.loss(how), (life.parameter(how) ** 2).sum()]
    if losses[1].requires_grad:
        life.torch.autograd.backward(losses, inputs=[life.parameter(how)] if how % 2 else None)


def follows(life: Life, how: int) -> None:
    """The copy takes what the model has: numbers, or gradients."""
    pairs = list(zip(life.ema.parameters(), life.model.parameters(), strict=False))
    if how % 4 == 0:
        life.ema.load_state_dict(life.model.state_dict(), strict=False)
    for copied, parameter in pairs if how % 4 else []:
        if how % 4 == 1:
            copied.data.copy_(copied.data * 0.5 + parameter.data * 0.5)
        elif how % 4 == 2:
            copied.grad = parameter.grad
        elif parameter.grad is not None:
            copied.grad = parameter.grad.clone()
            copied.data -= 0.1 * copied.grad


def trains_the_copy(life: Life, how: int) -> None:
    """Towards what the model says, as a student is."""
    with life.torch.no_grad():
        wanted = life.model(life.inputs[how % 4])
    loss = life.torch.nn.functional.mse_loss(life.ema(life.inputs[how % 4]), wanted)
    loss.backward()
    with life.torch.no_grad():
        for parameter in life.ema.parameters():
            if parameter.grad is not None:
                parameter.sub_(parameter.grad, alpha=0.1)
                parameter.grad = None


def draws_anew(life: Life, how: int) -> None:
    life.torch.manual_seed(how)
    parameter, init = life.parameter(how), life.torch.nn.init
    [init.normal_, init.uniform_, init.ones_, lambda p: init.trunc_normal_(p, std=0.5)][how % 4](parameter)


def is_parametrized(life: Life, how: int) -> None:
    parametrize = life.torch.nn.utils.parametrize
    layer = list(life.model.children())[-1]
    if parametrize.is_parametrized(layer):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=bool(how % 2))
    else:
        life.torch.nn.utils.parametrizations.weight_norm(layer)
    if how % 3 == 0:
        life.begin_optimizer()


def is_pruned(life: Life, how: int) -> None:
    prune = importlib.import_module(f"{life.torch.__name__}.nn.utils.prune")
    layer = list(life.model.children())[-1]
    if life.torch.nn.utils.parametrize.is_parametrized(layer):
        return
    if prune.is_pruned(layer) and how % 2:
        prune.remove(layer, "weight")
    else:
        prune.l1_unstructured(layer, "weight", 0.2)


def differentiates(life: Life, how: int) -> None:
    func, model = life.torch.func, life.model
    values = {name: parameter.detach() for name, parameter in model.named_parameters()}
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    inputs, targets = life.inputs[how % 4], life.targets[how % 4]

    def loss(values: Any) -> Any:
        return ((func.functional_call(model, (values, buffers), (inputs,)) - targets) ** 2).mean()

    was = model.training
    model.eval()
    life.note(*func.grad(loss)(values).values())
    model.train(was)


def saves_memory(life: Life, how: int) -> None:
    was = life.model.training
    life.model.eval()
    output = life.torch.utils.checkpoint.checkpoint(life.model, life.inputs[how % 4], use_reentrant=False)
    if output.requires_grad:
        output.square().mean().backward()
    life.model.train(was)


def takes_over(life: Life, how: int) -> None:
    """Load a part of a state, or take its very tensors."""
    whole = life.model.state_dict().items()
    state = {name: value * 0.5 for name, value in whole if value.is_floating_point() and "mask" not in name}
    if how % 2:
        life.seen.append(str(life.model.load_state_dict(dict(list(state.items())[how % 3 :]), strict=False)))
    else:
        life.model.load_state_dict(state, strict=False, assign=True)


def hooks_whole(life: Life, how: int) -> None:
    def note(_: Any, received: Any, sent: Any) -> None:
        life.note(*received, *sent)

    life.handles.append(list(life.model.children())[-1].register_full_backward_hook(note))


def looks(life: Life, how: int) -> None:
    life.look()


DEEDS: list[Callable[[Life, int], None]] = [
    trains, trains, trains, trains_by_closure, gathers, steps, clears, clips, answers, changes_mode, freezes,
    edits, edits_data, edits_by_numpy, edits_gradient, keeps, returns, looks_at_kept, becomes_a_copy,
    changes_optimizer, averages, schedules, changes_rate, edits_state, forgets_state, replaces, adds_group,
    hooks, penalises, goes_back_twice, trains_a_part, flattens, goes_down_by_hand, gathers_in_one_loss,
    goes_back_from_two, follows, trains_the_copy, draws_anew, is_parametrized, is_pruned, differentiates,
    saves_memory, takes_over, hooks_whole, looks,
]  # fmt: skip
