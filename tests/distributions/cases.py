"""What the tests ask of distributions, KL divergences and transforms: expressions in torch's words, and their numbers.

`record` evaluates them with torch, the tests with funcgrad. A word in PARAMETERS (`real`, `positive`, ...) draws a
float64 array of a shape from a numpy generator; expressions see the arrays of a case as tensors p[0], p[1], ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator
Host = np.ndarray[Any, Any]


def positive(rng: Rng, *shape: int) -> Host:
    return np.exp(rng.uniform(-1, 1, shape))


def simplex(rng: Rng, *shape: int) -> Host:
    weights = rng.uniform(0.2, 1, shape)
    return weights / weights.sum(-1, keepdims=True)


def lower(rng: Rng, *shape: int) -> Host:
    factor = np.tril(rng.uniform(-1, 1, shape), -1)
    return factor + np.eye(shape[-1]) * (0.5 + rng.uniform(0, 1, shape[:-1])[..., None])


def definite(rng: Rng, *shape: int) -> Host:
    factor = lower(rng, *shape)
    return factor @ factor.swapaxes(-1, -2)


def correlation(rng: Rng, *shape: int) -> Host:
    factor = lower(rng, *shape)
    return factor / np.linalg.norm(factor, axis=-1, keepdims=True)


def one_hot(rng: Rng, *shape: int) -> Host:
    return np.eye(shape[-1])[rng.integers(0, shape[-1], shape[:-1])]


PARAMETERS: dict[str, Callable[..., Host]] = {
    "real": lambda rng, *shape: rng.uniform(-2, 2, shape),
    "positive": positive,
    "large": lambda rng, *shape: 4 + 4 * rng.uniform(0, 1, shape),
    "unit": lambda rng, *shape: rng.uniform(0.05, 0.95, shape),
    "simplex": simplex,
    "lower": lower,
    "definite": definite,
    "correlation": correlation,
    "one_hot": one_hot,
    "count": lambda rng, *shape: rng.integers(0, 4, shape).astype(float),
    "bit": lambda rng, *shape: rng.integers(0, 2, shape).astype(float),
}


class Case(NamedTuple):
    """An expression, the arrays it needs as (word, *shape), and the word and shape of a value to score."""

    make: str
    given: tuple[tuple[Any, ...], ...]
    value: tuple[Any, ...]
    draws: str = "as torch"  # "alike": from the same distribution, with other numbers


def arrays(given: Sequence[tuple[Any, ...]], seed: int) -> list[Host]:
    """Draw the arrays of a case."""
    rng = np.random.default_rng(seed)
    return [PARAMETERS[word](rng, *shape) for word, *shape in given]


def _pair(name: str, one: str, other: str, value: str, **more: Any) -> Case:
    return Case(f"D.{name}(p[0], p[1])", ((one, 2, 3), (other, 3)), (value, 2, 3), **more)


def _probs(name: str, value: str, **more: Any) -> dict[str, Case]:
    return {
        f"{name} of probs": Case(f"D.{name}(p[0])", (("unit", 2, 3),), (value, 2, 3), **more),
        f"{name} of logits": Case(f"D.{name}(logits=p[0])", (("real", 2, 3),), (value, 2, 3), **more),
    }


DISTRIBUTIONS: dict[str, Case] = {
    **_probs("Bernoulli", "bit"),
    **_probs("Geometric", "count"),
    **_probs("ContinuousBernoulli", "unit"),
    "ContinuousBernoulli near one half": Case("D.ContinuousBernoulli(0.5 + p[0] * 1e-3)", (("real", 3),), ("unit", 3)),
    "Beta": _pair("Beta", "positive", "positive", "unit"),
    "Binomial": Case("D.Binomial(5, p[0])", (("unit", 2, 3),), ("count", 2, 3)),
    "Binomial of logits": Case("D.Binomial(torch.tensor([4, 5, 4]), logits=p[0])", (("real", 2, 3),), ("count", 2, 3)),
    "NegativeBinomial": Case("D.NegativeBinomial(p[0], p[1])", (("positive", 3), ("unit", 3)), ("count", 3)),
    "NegativeBinomial of logits": Case(
        "D.NegativeBinomial(p[0], logits=p[1])", (("positive", 3), ("real", 2, 3)), ("count", 3)
    ),
    "Categorical": Case("D.Categorical(p[0])", (("positive", 2, 4),), ("count", 5, 2)),
    "Categorical of logits": Case("D.Categorical(logits=p[0])", (("real", 4),), ("count", 3)),
    "OneHotCategorical": Case("D.OneHotCategorical(p[0])", (("positive", 2, 4),), ("one_hot", 2, 4)),
    "OneHotCategoricalStraightThrough": Case(
        "D.OneHotCategoricalStraightThrough(logits=p[0])", (("real", 2, 4),), ("one_hot", 2, 4)
    ),
    "Multinomial": Case("D.Multinomial(6, p[0])", (("positive", 2, 4),), ("count", 2, 4)),
    "Cauchy": _pair("Cauchy", "real", "positive", "real"),
    "Chi2": Case("D.Chi2(p[0])", (("positive", 2, 3),), ("positive", 2, 3)),
    "Dirichlet": Case("D.Dirichlet(p[0])", (("positive", 2, 4),), ("simplex", 2, 4)),
    "Dirichlet, large": Case("D.Dirichlet(p[0])", (("large", 4),), ("simplex", 2, 4)),
    "Exponential": Case("D.Exponential(p[0])", (("positive", 2, 3),), ("positive", 2, 3)),
    "FisherSnedecor": _pair("FisherSnedecor", "large", "large", "positive"),
    "Gamma": _pair("Gamma", "positive", "positive", "positive"),
    "GeneralizedPareto": Case(
        "D.GeneralizedPareto(-p[0], p[1], p[2] - 0.5)", (("positive", 3), ("positive", 3), ("unit", 3)), ("unit", 3)
    ),
    "Gumbel": _pair("Gumbel", "real", "positive", "real"),
    "HalfCauchy": Case("D.HalfCauchy(p[0])", (("positive", 2, 3),), ("positive", 2, 3)),
    "HalfNormal": Case("D.HalfNormal(p[0])", (("positive", 2, 3),), ("positive", 2, 3)),
    "InverseGamma": _pair("InverseGamma", "large", "positive", "positive"),
    "Kumaraswamy": _pair("Kumaraswamy", "positive", "positive", "unit"),
    "Laplace": _pair("Laplace", "real", "positive", "real"),
    "LKJCholesky": Case("D.LKJCholesky(3, p[0])", (("positive", 2),), ("correlation", 2, 3, 3)),
    "LogNormal": _pair("LogNormal", "real", "positive", "positive"),
    "LogisticNormal": Case("D.LogisticNormal(p[0], p[1])", (("real", 2, 3), ("positive", 3)), ("simplex", 2, 4)),
    "LowRankMultivariateNormal": Case(
        "D.LowRankMultivariateNormal(p[0], p[1], p[2])",
        (("real", 2, 3), ("real", 3, 2), ("positive", 3)),
        ("real", 5, 2, 3),
    ),
    "MixtureSameFamily": Case(
        "D.MixtureSameFamily(D.Categorical(p[0]), D.Normal(p[1], p[2]))",
        (("simplex", 2, 4), ("real", 2, 4), ("positive", 2, 4)),
        ("real", 5, 2),
    ),
    "MixtureSameFamily of vectors": Case(
        "D.MixtureSameFamily(D.Categorical(p[0]), D.Independent(D.Normal(p[1], p[2]), 1))",
        (("simplex", 4), ("real", 4, 3), ("positive", 4, 3)),
        ("real", 5, 3),
    ),
    "MultivariateNormal of scale_tril": Case(
        "D.MultivariateNormal(p[0], scale_tril=p[1])", (("real", 2, 3), ("lower", 3, 3)), ("real", 5, 2, 3)
    ),
    "MultivariateNormal of covariance": Case(
        "D.MultivariateNormal(p[0], p[1])", (("real", 3), ("definite", 2, 3, 3)), ("real", 5, 2, 3)
    ),
    "MultivariateNormal of precision": Case(
        "D.MultivariateNormal(p[0], precision_matrix=p[1])", (("real", 3), ("definite", 3, 3)), ("real", 3)
    ),
    "Normal": _pair("Normal", "real", "positive", "real"),
    "Normal of numbers": Case("D.Normal(1, 2.5)", (), ("real", 3)),
    "Independent": Case(
        "D.Independent(D.Normal(p[0], p[1]), 1)", (("real", 2, 3), ("positive", 2, 3)), ("real", 5, 2, 3)
    ),
    "Pareto": _pair("Pareto", "unit", "large", "positive"),
    "Poisson": Case("D.Poisson(p[0])", (("positive", 2, 3),), ("count", 2, 3)),
    "RelaxedBernoulli": Case("D.RelaxedBernoulli(p[0], p[1])", (("positive",), ("unit", 3)), ("unit", 2, 3)),
    "RelaxedOneHotCategorical": Case(
        "D.RelaxedOneHotCategorical(p[0], logits=p[1])", (("positive",), ("real", 2, 4)), ("simplex", 2, 4)
    ),
    "StudentT": Case("D.StudentT(p[0], p[1], p[2])", (("large", 3), ("real", 2, 3), ("positive", 3)), ("real", 2, 3)),
    "StudentT of few degrees": Case("D.StudentT(p[0])", (("positive", 3),), ("real", 3)),
    "TransformedDistribution": Case(
        "D.TransformedDistribution(D.Normal(p[0], p[1]), [D.TanhTransform(cache_size=1), D.AffineTransform(1., p[2])])",
        (("real", 2, 3), ("positive", 3), ("large", 3)),
        ("real", 2, 3),
    ),
    "Uniform": Case("D.Uniform(-p[0], p[1])", (("positive", 2, 3), ("positive", 3)), ("unit", 2, 3)),
    "VonMises": _pair("VonMises", "real", "positive", "real"),
    "Weibull": _pair("Weibull", "positive", "positive", "positive"),
    "Wishart": Case(
        "D.Wishart(p[0], p[1])", (("large", 2), ("definite", 2, 3, 3)), ("definite", 2, 3, 3), draws="alike"
    ),
}

# what is asked of a distribution d, with a value v of its support, a probability u, and g: gradients by the parameters
ASKED = (
    "d.mean", "d.mode", "d.variance", "d.stddev", "d.entropy()", "d.perplexity()", "d.log_prob(v)", "d.cdf(v)",
    "d.icdf(u)", "d.enumerate_support()", "d.enumerate_support(False)", "d.expand((2, *d.batch_shape)).log_prob(v)",
    "d.expand((2, *d.batch_shape)).mean", "d.covariance_matrix", "d.precision_matrix", "d.scale_tril",
    "d.logits", "d.probs", "d.support.check(v)",
    "g(d.log_prob(v))", "g(d.entropy())", "g(d.mean)", "g(d.variance)", "g(d.cdf(v))",
)  # fmt: skip
FACTS = (
    "repr(d)", "repr(d.support)", "d.batch_shape", "d.event_shape", "d.has_rsample", "d.has_enumerate_support",
    "d.support.event_dim", "d.support.is_discrete", "d.expand((2, *d.batch_shape)).batch_shape",
)  # fmt: skip
DRAWN = ("d.sample()", "d.sample((3,))", "d.sample((2, 20))", "d.rsample((2, 3))", "g(d.rsample((4,)))")

_UNIVARIATE = {
    "Bernoulli": ("D.Bernoulli({0})", ("unit",)), "Beta": ("D.Beta({0}, {1})", ("positive", "positive")),
    "Binomial": ("D.Binomial(3, {0})", ("unit",)), "Cauchy": ("D.Cauchy({0}, {1})", ("real", "positive")),
    "ContinuousBernoulli": ("D.ContinuousBernoulli({0})", ("unit",)),
    "Exponential": ("D.Exponential({0})", ("positive",)),
    "Gamma": ("D.Gamma({0}, {1})", ("positive", "positive")), "Geometric": ("D.Geometric({0})", ("unit",)),
    "Gumbel": ("D.Gumbel({0}, {1})", ("real", "positive")), "HalfNormal": ("D.HalfNormal({0})", ("positive",)),
    "Laplace": ("D.Laplace({0}, {1})", ("real", "positive")), "Normal": ("D.Normal({0}, {1})", ("real", "positive")),
    "Pareto": ("D.Pareto({0}, {1})", ("unit", "large")), "Poisson": ("D.Poisson({0})", ("positive",)),
    "Uniform": ("D.Uniform({0}, {0} + {1})", ("unit", "large")), "Chi2": ("D.Chi2({0})", ("positive",)),
    "Inner": ("D.Uniform({0} / 2, 0.5 + {1} / 3)", ("unit", "unit")),
    "LogNormal": ("D.LogNormal({0}, {1})", ("real", "positive")),
    "Kumaraswamy": ("D.Kumaraswamy({0}, {1})", ("positive", "positive")),
    "Weibull": ("D.Weibull({0}, {1})", ("positive", "positive")),
}  # fmt: skip
_STRUCTURED = {
    "Categorical": ("D.Categorical({0})", (("simplex", 2, 3),)),
    "OneHotCategorical": ("D.OneHotCategorical({0})", (("simplex", 2, 3),)),
    "Dirichlet": ("D.Dirichlet({0})", (("positive", 2, 3),)),
    "Independent": ("D.Independent(D.Normal({0}, {1}), 1)", (("real", 2, 3), ("positive", 3))),
    "MultivariateNormal": ("D.MultivariateNormal({0}, scale_tril={1})", (("real", 2, 3), ("lower", 3, 3))),
    "LowRankMultivariateNormal": (
        "D.LowRankMultivariateNormal({0}, {1}, {2})", (("real", 2, 3), ("real", 3, 2), ("positive", 3)),
    ),
    "Wishart": ("D.Wishart({0}, {1})", (("large", 2), ("definite", 3, 3))),
}  # fmt: skip


Divergences = dict[str, tuple[str, list[tuple[Any, ...]]]]


def divergences() -> dict[str, Divergences]:
    """Return for each p and each q the expression of KL(p || q) and the arrays it needs."""
    univariate = {name: (make, tuple((word, 2, 3) for word in words)) for name, (make, words) in _UNIVARIATE.items()}
    return {p: _from(p, group) for group in (univariate, _STRUCTURED) for p in group}


def _from(p: str, group: Mapping[str, tuple[str, tuple[tuple[Any, ...], ...]]]) -> Divergences:
    make_p, given_p = group[p]
    found: Divergences = {}
    for q, (make_q, given_q) in group.items():
        names = [f"p[{i}]" for i in range(len(given_p) + len(given_q))]
        made = f"{make_p.format(*names)}, {make_q.format(*names[len(given_p) :])}"
        found[q] = f"D.kl_divergence({made})", [*given_p, *given_q]
    return found


TRANSFORMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "abs": ("D.AbsTransform()", ("real", 2, 3)),
    "exp": ("D.ExpTransform()", ("real", 2, 3)),
    "log": ("D.ExpTransform().inv", ("positive", 2, 3)),
    "sigmoid": ("D.SigmoidTransform()", ("real", 2, 3)),
    "softplus": ("D.SoftplusTransform()", ("real", 2, 3)),
    "tanh": ("D.TanhTransform()", ("real", 2, 3)),
    "power": ("D.PowerTransform(torch.tensor([2., -1., 0.5]))", ("positive", 2, 3)),
    "affine": ("D.AffineTransform(1, -2)", ("real", 2, 3)),
    "affine of vectors": ("D.AffineTransform(torch.ones(3), torch.tensor([1., 2., -3.]), event_dim=1)", ("real", 2, 3)),
    "softmax": ("D.SoftmaxTransform()", ("real", 2, 3)),
    "stick breaking": ("D.StickBreakingTransform()", ("real", 2, 3)),
    "lower cholesky": ("D.LowerCholeskyTransform()", ("real", 2, 3, 3)),
    "positive definite": ("D.PositiveDefiniteTransform()", ("real", 2, 3, 3)),
    "correlation": ("D.CorrCholeskyTransform()", ("real", 2, 6)),
    "reshape": ("D.ReshapeTransform((2, 3), (3, 2))", ("real", 4, 2, 3)),
    "compose": ("D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0., 2.), D.ExpTransform().inv])", ("real", 3)),
    "compose of shapes": (
        "D.ComposeTransform([D.ReshapeTransform((6,), (2, 3)), D.StickBreakingTransform()])", ("real", 2, 6),
    ),
    "no parts": ("D.identity_transform", ("real", 3)),
    "independent": ("D.IndependentTransform(D.ExpTransform(), 1)", ("real", 2, 3)),
    "cat": (
        "D.CatTransform([D.ExpTransform(), D.AffineTransform(1., 3.), D.identity_transform], -1, [2, 1, 3])",
        ("real", 2, 6),
    ),
    "stack": ("D.StackTransform([D.ExpTransform(), D.SigmoidTransform()], dim=1)", ("real", 3, 2)),
    "cdf": ("D.CumulativeDistributionTransform(D.Normal(0.5, 2.))", ("real", 3)),
    "biject to positive": ("D.biject_to(D.constraints.positive)", ("real", 3)),
    "biject to simplex": ("D.biject_to(D.constraints.simplex)", ("real", 2, 3)),
    "biject to interval": ("D.biject_to(D.constraints.interval(-1., 3.))", ("real", 3)),
    "biject to unit interval": ("D.biject_to(D.constraints.unit_interval)", ("real", 3)),
    "biject to less than": ("D.biject_to(D.constraints.less_than(2.))", ("real", 3)),
    "biject to correlation": ("D.biject_to(D.constraints.corr_cholesky)", ("real", 2, 3)),
    "biject to vectors": ("D.biject_to(D.constraints.independent(D.constraints.positive, 1))", ("real", 2, 3)),
    "biject to pieces": (
        "D.biject_to(D.constraints.cat([D.constraints.positive, D.constraints.real], -1, [1, 2]))", ("real", 2, 3),
    ),
    "transform to simplex": ("D.transform_to(D.constraints.simplex)", ("real", 2, 3)),
    "transform to definite": ("D.transform_to(D.constraints.positive_definite)", ("real", 2, 3, 3)),
    "transform to real": ("D.transform_to(D.constraints.real)", ("real", 3)),
}  # fmt: skip
ASKED_OF_TRANSFORMS = ("t(x)", "t.inv(t(x))", "t.log_abs_det_jacobian(x, t(x))", "t.inv.log_abs_det_jacobian(t(x), x)",
                       "g(t(x))", "g(t.log_abs_det_jacobian(x, t(x)))", "t.codomain.check(t(x))")  # fmt: skip
FACTS_OF_TRANSFORMS = (
    "repr(t)", "repr(t.inv)", "repr(t.domain)", "repr(t.codomain)", "t.domain.event_dim", "t.codomain.event_dim",
    "t.bijective", "tuple(t.forward_shape(x.shape))", "tuple(t.inverse_shape(t(x).shape))", "t == t", "t.inv.inv == t",
    "t == D.ExpTransform()",
)  # fmt: skip

ERRORS = (
    "D.Normal(torch.zeros(2), torch.tensor([1., -1.]))",
    "D.Normal(torch.tensor([0., float('nan')]), 1.)",
    "D.Normal(0., -1.)",
    "D.Normal('a', 1.)",
    "D.Normal(0., 1.).log_prob(torch.tensor(float('nan')))",
    "D.Normal(torch.zeros(2), 1.).log_prob(torch.zeros(3))",
    "D.Normal(0., 1.).log_prob(1.)",
    "D.Categorical()",
    "D.Categorical(torch.ones(2), torch.ones(2))",
    "D.Categorical(torch.tensor(0.5))",
    "D.Categorical(torch.tensor([-1., 2.]))",
    "D.Categorical(logits=torch.tensor([0., float('nan')]))",
    "D.Categorical(torch.ones(3)).log_prob(torch.tensor(3))",
    "D.Categorical(torch.ones(3)).log_prob(torch.tensor(0.5))",
    "D.Categorical(torch.ones(3)).rsample()",
    "D.OneHotCategorical(torch.ones(3)).log_prob(torch.tensor([1., 1., 0.]))",
    "D.Bernoulli(torch.tensor(1.5))",
    "D.Bernoulli(0.5).log_prob(torch.tensor(0.5))",
    "D.Bernoulli()",
    "D.Geometric(torch.tensor([0.5, 0.]))",
    "D.Binomial(3, 0.5).log_prob(torch.tensor(4.))",
    "D.Binomial(torch.tensor([2, 3]), torch.tensor([0.5, 0.5])).entropy()",
    "D.Multinomial(torch.tensor(3), torch.ones(2))",
    "D.Uniform(1., 0.)",
    "D.Uniform(0., 1.).log_prob(torch.tensor(2.))",
    "D.Gamma(torch.tensor(0.), 1.)",
    "D.Exponential(1.).log_prob(torch.tensor(-1.))",
    "D.Dirichlet(torch.tensor(1.))",
    "D.Dirichlet(torch.ones(3)).log_prob(torch.ones(3))",
    "D.MultivariateNormal(torch.zeros(2))",
    "D.MultivariateNormal(torch.tensor(0.), torch.eye(2))",
    "D.MultivariateNormal(torch.zeros(2), torch.tensor([[1., 2.], [2., 1.]]))",
    "D.MultivariateNormal(torch.zeros(2), scale_tril=torch.tensor([[1., 2.], [2., 1.]]))",
    "D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(3, 1), torch.ones(2))",
    "D.LKJCholesky(1)",
    "D.Wishart(torch.tensor(1.), torch.eye(3))",
    "D.Independent(D.Normal(0., 1.), 1)",
    "D.Independent(D.Bernoulli(torch.ones(2) / 2), 1).enumerate_support()",
    "D.TransformedDistribution(D.Normal(0., 1.), [1])",
    "D.TransformedDistribution(D.Normal(0., 1.), D.StickBreakingTransform())",
    "D.MixtureSameFamily(D.Normal(0., 1.), D.Normal(torch.zeros(2), 1.))",
    "D.MixtureSameFamily(D.Categorical(torch.ones(3)), D.Normal(torch.zeros(2), 1.))",
    "D.kl_divergence(D.Normal(0., 1.), D.Cauchy(0., 1.))",
    "D.kl_divergence(D.Binomial(2, 0.5), D.Binomial(3, 0.5))",
    "D.biject_to(D.constraints.integer_interval(0, 3))",
    "D.biject_to.register(3, None)(lambda c: c)",
    "D.constraints.dependent.check(torch.ones(1))",
    "D.ExpTransform(cache_size=2)",
    "D.ReshapeTransform((2,), (3,))",
    "D.Distribution().mean",
    "D.Distribution.set_default_validate_args(3)",
    "D.Cauchy(0., 1.).enumerate_support()",
)
