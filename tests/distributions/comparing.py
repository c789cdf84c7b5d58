"""What "the same as torch" means for answers of distributions, and where it is known not to be so."""

from __future__ import annotations

from typing import Any

import numpy as np

Host = np.ndarray[Any, Any]

# answers that torch computes by approximations, in words of the case or question: by how much they may differ
_APPROXIMATE = {
    ("VonMises", "log_prob"): 1e-6,  # polynomials of 1e-7 for the Bessel functions
    ("VonMises", "variance"): 1e-6,
    ("VonMises", "stddev"): 1e-6,
    ("Multinomial", "entropy"): 1e-7,  # computed in float32
    ("Multinomial", "perplexity"): 1e-7,
    ("ContinuousBernoulli", "rsample"): 2e-4,  # float32 digits cancel near one half
    ("Dirichlet", "rsample"): 2e-3,  # rational approximations for gradients of gamma and beta samples
    ("Beta", "rsample"): 2e-3,
    ("Gamma", "rsample"): 2e-3,
    ("Chi2", "rsample"): 2e-3,
    ("StudentT", "rsample"): 2e-3,
    ("FisherSnedecor", "rsample"): 2e-3,
}


def require_same(ours: dict[str, Any], theirs: dict[str, Any], name: str) -> None:
    """Assert that all that torch answers is answered, and equal but for rounding."""
    assert set(theirs) <= set(ours), f"not answered: {sorted(set(theirs) - set(ours))}"
    for question, expected in theirs.items():
        given = ours[question]
        assert given.shape == expected.shape and given.dtype == expected.dtype, (question, given, expected)
        allowed = [t for (case, word), t in _APPROXIMATE.items() if case in name and word in question]
        tolerance = max([2e-5 if given.dtype == np.float32 else 1e-9, *allowed])
        np.testing.assert_allclose(given, expected, rtol=tolerance, atol=tolerance, err_msg=f"{name}: {question}")


def require_alike(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Assert that the same was drawn but for the numbers."""
    for question in set(theirs) - {"next"}:
        assert ours[question].shape == theirs[question].shape
        assert ours[question].dtype == theirs[question].dtype


def require_same_error(ours: tuple[str, str], theirs: tuple[str, str]) -> None:
    """Assert one type, and that the messages begin alike, where torch's says something."""
    assert ours[0] == theirs[0], (ours, theirs)
    words = theirs[1].split()[:3]
    assert ours[1].split()[: len(words)] == words, (ours, theirs)
