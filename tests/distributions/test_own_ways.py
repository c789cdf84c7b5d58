"""What no recorded number shows: subclasses, caches, how samples are distributed, validation, compile counts."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import distributions as D
from funcgrad import explain, nn, optim


class Shifted(D.Normal):
    """A subclass with an __init__ of its own, and no expand."""

    def __init__(self, shift: Any) -> None:
        self.shift = shift
        super().__init__(shift + 1, 1.0)


def test_a_subclass_with_its_own_init_expands_too() -> None:
    expanded = Shifted(torch.zeros(3)).expand((2, 3))
    assert expanded.shift.shape == expanded.loc.shape == expanded.sample().shape == (2, 3)


def test_the_expand_that_torchs_subclasses_write_works() -> None:
    class Old(D.Normal):
        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Old, _instance)
            new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
            super(D.Normal, new).__init__(torch.Size(batch_shape), validate_args=False)
            return new

    assert Old(torch.zeros(3), 1.0).expand((2, 3)).sample().shape == (2, 3)


def test_a_distribution_is_written_from_log_prob_and_rsample() -> None:
    class Triangle(D.Distribution):
        arg_constraints = {"width": D.constraints.positive}  # noqa: RUF012
        support = D.constraints.unit_interval
        has_rsample = True

        def __init__(self, width: Any) -> None:
            self.width = width
            super().__init__(width.shape)

        def rsample(self, sample_shape: Any = ()) -> Any:
            return self.width * torch.rand(self._extended_shape(sample_shape)).sqrt()

    assert Triangle(torch.ones(2)).expand((3, 2)).sample((4,)).shape == (4, 3, 2)
    with pytest.raises(ValueError, match="Expected parameter width"):
        Triangle(-torch.ones(2))


class OwnTanh(D.transforms.Transform):
    """A transform as agents with squashed actions write it."""

    domain, codomain = D.constraints.real, D.constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def __init__(self, cache_size: int = 1) -> None:
        super().__init__(cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnTanh)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return 0.5 * (y.log1p() - (-y).log1p())

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - nn.functional.softplus(-2.0 * x))


class Squashed(D.transformed_distribution.TransformedDistribution):
    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale, self.base_dist = loc, scale, D.Normal(loc, scale)
        super().__init__(self.base_dist, [OwnTanh()])

    @property
    def mean(self) -> Any:
        mean = self.loc
        for transform in self.transforms:
            mean = transform(mean)
        return mean


class Truncated(D.Normal):
    def __init__(self, loc: Any, scale: Any) -> None:
        super().__init__(loc, scale, validate_args=False)

    def sample(self, clip: Any = None, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        noise = D.utils._standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device) * self.scale
        return torch.clamp(self.loc + (noise if clip is None else torch.clamp(noise, -clip, clip)), -1, 1)


def test_the_distributions_that_agents_write_work() -> None:
    loc = torch.zeros(4, 2, requires_grad=True)
    policy = Squashed(loc, torch.ones(4, 2))
    action = policy.rsample()
    policy.log_prob(action).sum(-1, keepdim=True).mean().backward()
    wanted = D.TransformedDistribution(D.Normal(torch.zeros(4, 2), 1.0), D.TanhTransform()).log_prob(action.detach())
    np.testing.assert_allclose(policy.log_prob(action).detach().numpy(), wanted.numpy(), atol=1e-4)
    assert loc.grad is not None and (policy.mean == 0).all() and action.abs().max() < 1
    assert Truncated(loc.detach(), 0.2).sample(clip=0.3).abs().max() <= 0.3


def test_a_registered_divergence_serves_subclasses() -> None:
    class Mine(D.Normal):
        pass

    ours, normal = Mine(0.0, 1.0), D.Normal(0.0, 1.0)
    assert D.kl_divergence(ours, normal) == 0
    D.register_kl(Mine, D.Normal)(lambda p, q: torch.tensor(7.0))
    assert D.kl_divergence(ours, normal) == 7
    assert D.kl_divergence(normal, ours) == 0
    D.register_kl(D.Normal, Mine)(lambda p, q: torch.tensor(8.0))
    with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
        D.kl_divergence(ours, ours)


def test_a_divergence_may_be_entered_for_a_base_that_is_no_distribution() -> None:
    class Base: ...

    class Mine(Base, D.Normal): ...

    D.register_kl(Base, D.Cauchy)(lambda p, q: torch.tensor(7.0))
    assert D.kl_divergence(Mine(0.0, 1.0), D.Cauchy(0.0, 1.0)) == 7
    with pytest.raises(TypeError, match="Expected type_q to be a Distribution subclass"):
        D.register_kl(D.Normal, "Normal")


def test_a_cached_transform_gives_x_itself_back() -> None:
    transform, x = D.TanhTransform(cache_size=1), torch.tensor([20.0])
    assert transform.inv(transform(x)) is x
    assert D.TanhTransform().inv(D.TanhTransform()(x)) == torch.inf
    assert D.TanhTransform().with_cache()(x) == 1
    assert transform.with_cache(1) is transform


def test_what_a_transform_cached_goes_with_it() -> None:
    transform = D.TanhTransform(cache_size=1)
    y = transform(torch.ones(3))
    transform.inv(y)
    kept = weakref.ref(y)
    gc.disable()
    try:
        del transform, y
        assert kept() is None
    finally:
        gc.enable()


def test_distributions_and_transforms_are_copied_and_pickled() -> None:
    d = D.TransformedDistribution(D.Normal(torch.zeros(2), 1.0), [D.TanhTransform(), D.AffineTransform(1.0, 2.0)])
    value = torch.tensor([0.5, 1.5])
    for again in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        np.testing.assert_array_equal(again.log_prob(value).numpy(), d.log_prob(value).numpy())


def test_validation_can_be_turned_off() -> None:
    assert D.Normal(0.0, -1.0, validate_args=False).scale == -1
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Bernoulli(0.5).log_prob(torch.tensor(0.5)) < 0
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="to satisfy the constraint GreaterThan"):
        D.Normal(0.0, -1.0)


def test_wrong_parameters_that_are_still_being_computed_are_found() -> None:
    scale = torch.ones(3) - 2
    with pytest.raises(ValueError, match=r"Expected parameter scale \(Tensor of shape \(3,\)\)"):
        D.Normal(torch.zeros(3), scale)


@pytest.mark.parametrize(
    "make",
    [
        "D.Wishart(torch.tensor(6.0), torch.eye(2) + 0.3)",
        "D.LKJCholesky(3, 2.0)",
        "D.VonMises(torch.tensor(0.3), torch.tensor(4.0))",
        "D.LowRankMultivariateNormal(torch.ones(2), torch.ones(2, 1), torch.ones(2))",
        "D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Normal(torch.tensor([-2.0, 2.0]), 0.5))",
    ],
)
def test_samples_have_the_mean_that_is_promised(make: str) -> None:
    torch.manual_seed(0)
    d = eval(make, {"D": D, "torch": torch})
    drawn = d.sample((20000,))
    if hasattr(type(d), "dim") or isinstance(d, D.LKJCholesky):
        np.testing.assert_allclose((drawn @ drawn.mT).mean(0).numpy(), np.eye(3), atol=0.02)
        return
    spread = float(drawn.std(0).max())
    np.testing.assert_allclose(drawn.mean(0).numpy(), d.mean.numpy(), atol=5 * spread / 20000**0.5)


@pytest.mark.parametrize("make", ["D.Beta(p, 2.0)", "D.Beta(3.0, p)", "D.Gamma(p, 2.0)", "D.StudentT(p + 3)"])
def test_gradients_through_samples_are_those_of_the_expectation(make: str) -> None:
    """d/dp E x^2 in closed form (second moment) against the mean of the samples' gradients."""
    torch.manual_seed(1)
    p = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    d = eval(make, {"D": D, "p": p})
    (exact,) = torch.autograd.grad(d.variance + d.mean**2, p)
    (sampled,) = torch.autograd.grad((d.rsample((40000,)) ** 2).mean(), p)
    np.testing.assert_allclose(sampled.numpy(), exact.numpy(), rtol=0.1)


def test_a_sample_of_ones_own_is_scored_without_looking_at_it() -> None:
    d = D.Normal(torch.zeros(3), 1.0)
    drawn = d.sample()
    with explain.counted() as seen:
        d.log_prob(drawn)
    assert seen.runs == 0
    drawn.mul_(torch.nan)
    with pytest.raises(ValueError, match="to be within the support"):
        d.log_prob(drawn)
    with explain.counted() as seen:
        D.Normal(torch.zeros(3), 1.0).log_prob(d.sample())
    assert seen.runs > 0


def test_a_sample_that_is_kept_does_not_keep_its_distribution() -> None:
    d = D.Normal(torch.zeros(3), 1.0)
    drawn, gone = d.sample(), weakref.ref(d)
    del d
    assert gone() is None and drawn.shape == (3,)


def test_what_a_model_computes_is_looked_at_with_its_results() -> None:
    policy, state = nn.Linear(4, 3), torch.randn(1, 4)
    with explain.counted() as seen:
        action = D.Categorical(logits=policy(state)).sample()
    assert seen.runs == 0
    assert action.item() in range(3)
    with torch.no_grad(), explain.counted() as seen:
        D.Normal(policy(state), policy(state).exp())
    assert seen.runs == 0


def test_what_is_detached_from_a_model_is_looked_at_with_its_results() -> None:
    model, state = nn.Linear(4, 3), torch.randn(1, 4)
    with explain.counted() as seen:
        logits = model(state)
        posterior = D.Independent(D.OneHotCategoricalStraightThrough(logits=logits.detach()), 0)
        loss = D.kl_divergence(posterior, D.Independent(D.OneHotCategoricalStraightThrough(logits=logits), 0)).sum()
        loss.backward()
    assert seen.runs == 0
    assert loss.item() == pytest.approx(0, abs=1e-6)
    with explain.counted() as seen:
        rate = D.Poisson(-model(state).detach().exp()).rate
    assert seen.runs == 0
    with pytest.raises(ValueError, match="Expected parameter rate"):
        rate.tolist()


def test_an_invalid_parameter_that_a_model_computes_is_told_when_something_is_read() -> None:
    policy, state = nn.Linear(4, 3), torch.full((1, 4), torch.nan)
    action = D.Categorical(logits=policy(state)).sample()
    with pytest.raises(ValueError, match=r"(?s)parameter logits \(Tensor of shape \(1, 3\)\).*Categorical.*nan") as e:
        action.item()
    assert __file__ in "".join(e.value.__notes__)


def test_what_is_data_is_looked_at_where_it_is_given() -> None:
    with pytest.raises(ValueError, match="Expected parameter scale"):
        D.Normal(0.0, torch.ones(3) * -1.0)
    with pytest.raises(ValueError, match="to be within the support"):
        D.Bernoulli(torch.tensor(0.5)).log_prob(torch.ones(2) + 1)
    with pytest.raises(ValueError, match="to satisfy the constraint PositiveDefinite"):
        D.MultivariateNormal(torch.zeros(2), torch.tensor([[1.0, 2.0], [2.0, 1.0]]) * 1)


def test_a_policy_adds_no_compile_per_step() -> None:
    torch.manual_seed(0)
    policy = nn.Linear(4, 3)
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    compiled = []
    for step in range(12):
        state = torch.randn(1, 4)
        d = D.Categorical(logits=policy(state))
        action = d.sample()
        reward = 1.0 if action.item() == 1 else -0.1 * step
        loss = (-d.log_prob(action) * reward - 0.01 * d.entropy()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
        compiled.append(explain.counters.compiles)
    assert compiled[-1] == compiled[4]


def test_an_autoencoders_step_is_compiled_once() -> None:
    torch.manual_seed(0)
    encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
    optimizer = optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    data, losses, compiled = torch.rand(8, 6), [], []
    for _ in range(8):
        mean, log_std = encoder(data).chunk(2, -1)
        posterior = D.Normal(mean, log_std.exp())
        seen = D.Independent(D.Bernoulli(logits=decoder(posterior.rsample()), validate_args=False), 1)
        kl = D.kl_divergence(posterior, D.Normal(0.0, 1.0)).sum(-1)
        loss = (kl - seen.log_prob(data)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        compiled.append(explain.counters.compiles)
    assert losses[-1] < losses[0]
    assert compiled[-1] == compiled[3]


def test_the_variance_of_a_subclass_with_other_samples_has_the_shape_of_its_mean() -> None:
    class Matrix(D.MultivariateNormal):
        def _extended_shape(self, sample_shape: Any = ()) -> Any:
            return torch.Size(sample_shape) + torch.Size([3, 2])

        @property
        def variance(self) -> Any:
            return super().variance.view(3, 2)

    assert Matrix(torch.zeros(6), torch.eye(6)).variance.tolist() == [[1, 1]] * 3


def test_a_choice_shows_the_probabilities_once_they_were_worked_out() -> None:
    normals = D.Normal(torch.zeros(3), 1.0)
    for use in (lambda d: d.sample(), lambda d: d.mean, lambda d: D.MixtureSameFamily(d, normals).sample()):
        choice = D.Categorical(logits=torch.zeros(3))
        assert repr(choice) == "Categorical(logits: torch.Size([3]))"
        use(choice)
        assert repr(choice) == "Categorical(probs: torch.Size([3]), logits: torch.Size([3]))"


def test_a_divergence_of_factored_normals_is_a_sum_and_of_others_a_product() -> None:
    loc = torch.zeros(2, requires_grad=True)
    full = D.MultivariateNormal(loc, torch.eye(2))
    low = D.LowRankMultivariateNormal(loc, torch.ones(2, 1), torch.ones(2))
    names = [D.kl_divergence(p, q).grad_fn.name() for p in (full, low) for q in (full, low)]
    assert names == ["AddBackward0", "MulBackward0", "MulBackward0", "MulBackward0"]


def test_numbers_beside_the_simplex_are_refused_without_a_warning_of_numpys(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(ValueError, match="found invalid values"):
        D.Categorical(torch.tensor([-0.5, 0.5]))
    assert not [warning for warning in recwarn if warning.category is RuntimeWarning]


def test_a_list_is_no_tensor_of_probabilities() -> None:
    with pytest.raises(AttributeError, match=r"^'list' object has no attribute 'dim'$"):
        D.Categorical([0.5, 0.5])  # type: ignore[arg-type]  # what is refused


def test_a_late_error_shows_the_distribution_as_it_was_made() -> None:
    logits = torch.zeros(2, requires_grad=True).exp() * float("nan")
    choice = D.Categorical(logits=logits)
    with pytest.raises(ValueError, match=r"of distribution Categorical\(logits: torch\.Size\(\[2\]\)\) to satisfy"):
        choice.probs.tolist()


@pytest.mark.parametrize(
    ("made", "node"),  # as PyTorch 2.13 shows them
    [
        ("Binomial(5, p)", "SubBackward0"),
        ("ContinuousBernoulli(p)", "AddBackward0"),
        ("InverseGamma(p, p)", "AddBackward0"),
        ("Kumaraswamy(p, p)", "AddBackward0"),
        ("LogNormal(p, p)", "AddBackward0"),
        ("NegativeBinomial(p, p)", "SubBackward0"),
        ("Pareto(p, p)", "AddBackward0"),
        ("Weibull(p, p)", "AddBackward0"),
    ],
)
def test_the_last_node_of_a_density(made: str, node: str) -> None:
    p = torch.full((3,), 0.4, requires_grad=True)
    found = eval(f"D.{made}", {"D": D, "p": p})
    assert found.log_prob(found.sample()).grad_fn.name() == node


@pytest.mark.parametrize(
    ("made", "what", "node"),
    [
        ("Beta(p, p)", "mean", "DivBackward0"),
        ("Beta(p, p)", "variance", "DivBackward0"),
        ("Gamma(p, p)", "rsample()", "DivBackward0"),
        ("Chi2(p)", "rsample()", "DivBackward0"),
        ("LowRankMultivariateNormal(p, p[:, None], p)", "entropy()", "MulBackward0"),
        ("LowRankMultivariateNormal(p.expand(2, 3), p[:, None], p)", "entropy()", "ExpandBackward0"),
        ("MixtureSameFamily(D.Categorical(p), D.Normal(p, p))", "variance", "AddBackward0"),
    ],
)
def test_the_last_node_of_what_a_distribution_gives(made: str, what: str, node: str) -> None:
    p = torch.full((3,), 0.4, requires_grad=True)
    assert eval(f"D.{made}.{what}", {"D": D, "p": p}).grad_fn.name() == node


def test_a_sample_too_small_for_its_dtype_is_raised_without_a_gradient_of_its_own() -> None:
    p = torch.full((2000,), 1e-3, requires_grad=True)
    drawn = D.Gamma(p, 1.0).rsample()
    assert drawn.min().item() == torch.finfo(torch.float32).tiny


def test_an_entropy_that_nobody_wrote_has_torchs_error() -> None:
    with pytest.raises(NotImplementedError, match=r"^$"):
        D.Poisson(torch.ones(2)).entropy()


def test_an_empty_batch_is_sampled() -> None:
    assert torch.multinomial(torch.empty(0, 3), 2, replacement=True).shape == (0, 2)
    assert D.Categorical(logits=torch.empty(0, 3)).sample((2,)).shape == (2, 0)
