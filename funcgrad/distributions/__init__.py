"""torch.distributions, a file each under torch's name. They speak Tensor only, so they record and differentiate."""

from __future__ import annotations

from funcgrad.distributions import constraints, kl_between, kl_within, transforms
from funcgrad.distributions.bernoulli import Bernoulli
from funcgrad.distributions.beta import Beta
from funcgrad.distributions.binomial import Binomial
from funcgrad.distributions.categorical import Categorical
from funcgrad.distributions.cauchy import Cauchy
from funcgrad.distributions.chi2 import Chi2
from funcgrad.distributions.constraint_registry import biject_to, transform_to
from funcgrad.distributions.continuous_bernoulli import ContinuousBernoulli
from funcgrad.distributions.dirichlet import Dirichlet
from funcgrad.distributions.distribution import Distribution
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.distributions.exponential import Exponential
from funcgrad.distributions.fishersnedecor import FisherSnedecor
from funcgrad.distributions.gamma import Gamma
from funcgrad.distributions.generalized_pareto import GeneralizedPareto
from funcgrad.distributions.geometric import Geometric
from funcgrad.distributions.gumbel import Gumbel
from funcgrad.distributions.half_cauchy import HalfCauchy
from funcgrad.distributions.half_normal import HalfNormal
from funcgrad.distributions.independent import Independent
from funcgrad.distributions.inverse_gamma import InverseGamma
from funcgrad.distributions.kl import kl_divergence, register_kl
from funcgrad.distributions.kumaraswamy import Kumaraswamy
from funcgrad.distributions.laplace import Laplace
from funcgrad.distributions.lkj_cholesky import LKJCholesky
from funcgrad.distributions.log_normal import LogNormal
from funcgrad.distributions.logistic_normal import LogisticNormal
from funcgrad.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from funcgrad.distributions.mixture_same_family import MixtureSameFamily
from funcgrad.distributions.multinomial import Multinomial
from funcgrad.distributions.multivariate_normal import MultivariateNormal
from funcgrad.distributions.negative_binomial import NegativeBinomial
from funcgrad.distributions.normal import Normal
from funcgrad.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from funcgrad.distributions.pareto import Pareto
from funcgrad.distributions.poisson import Poisson
from funcgrad.distributions.relaxed_bernoulli import LogitRelaxedBernoulli, RelaxedBernoulli
from funcgrad.distributions.relaxed_categorical import RelaxedOneHotCategorical
from funcgrad.distributions.studentT import StudentT
from funcgrad.distributions.transformed_distribution import TransformedDistribution
from funcgrad.distributions.transforms import *  # noqa: F403 - the transforms, listed in __all__ there
from funcgrad.distributions.uniform import Uniform
from funcgrad.distributions.von_mises import VonMises
from funcgrad.distributions.weibull import Weibull
from funcgrad.distributions.wishart import Wishart

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LogitRelaxedBernoulli",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraints",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
]
__all__ += transforms.__all__

FILL_THE_TABLE = (kl_between, kl_within)  # they enter their pairs when they are imported
