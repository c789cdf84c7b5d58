"""What the tests draw: expressions in torch's words, evaluated by torch (`record`) and by funcgrad (`test_recorded`).

After each script one more integer is drawn, so that what a script took from the stream counts too.
"""

from __future__ import annotations

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
SIZES = (0, 1, 2, 7, 15, 16, 17, 31, 40, 100)
SEEDS = (0, 5, -1)

SCRIPTS: dict[str, str] = {}


def grid(count: int, first: float, last: float) -> list[float]:
    """Return numbers evenly from first to last: a word of the scripts."""
    return [first + (last - first) * i / (count - 1) for i in range(count)]


def _add_factories() -> None:
    for dtype in (*FLOATS, "complex64", "complex128"):
        for word in ("rand", "randn"):
            SCRIPTS[f"{word}_{dtype}"] = f"[torch.{word}(n, dtype=torch.{dtype}) for n in {SIZES}]"
        for fill in ("uniform_(-0.37, 0.91)", "uniform_(2, 5)", "normal_(0.3, 1.7)"):
            SCRIPTS[f"{fill}_{dtype}"] = f"[torch.empty(n, dtype=torch.{dtype}).{fill} for n in {SIZES}]"
    SCRIPTS["rand_blocks"] = "[torch.rand(n) for n in (622, 1, 1, 624, 3)]"
    SCRIPTS["randn_blocks"] = "[torch.randn(n) for n in (1030, 5, 5, 1040)]"


def _add_fills() -> None:
    fills = ("exponential_(1.5)", "cauchy_(0.5, 2)", "log_normal_(0.2, 0.5)", "geometric_(0.3)", "bernoulli_(0.3)",
             "random_()", "random_(3, 100)", "random_(2)")  # fmt: skip
    for fill in fills:
        for dtype in FLOATS if fill[0] in "ecl" else FLOATS + INTEGERS:
            SCRIPTS[f"{fill}_{dtype}"] = f"[torch.empty(n, dtype=torch.{dtype}).{fill} for n in (0, 1, 5, 40)]"
    for p in FLOATS:
        SCRIPTS[f"bernoulli_each_{p}"] = (
            f"[torch.bernoulli(torch.tensor(grid(40, 0, 1), dtype=torch.{p})), "
            f"torch.zeros(3, 4).bernoulli_(torch.tensor(grid(4, 0, 1), dtype=torch.{p}))]"
        )


def _add_integers() -> None:
    bounds = ("2", "7", "2**28 - 1", "2**28", "2**32 + 5", "2**62", "-5, 5", "-2**63, 2**63 - 1", "-2**40, -3")
    for bound in bounds:
        SCRIPTS[f"randint_{bound}"] = f"[torch.randint({bound}, (n,)) for n in (1, 20)]"
    SCRIPTS["random_full"] = "[torch.empty(9, dtype=torch.int64).random_(-2**63, None)]"
    SCRIPTS["random_from"] = "[torch.empty(9, dtype=torch.int64).random_(3, None)]"
    kinds = "(torch.uint8, torch.float32, torch.int16)"
    SCRIPTS["randint_dtypes"] = f"[torch.randint(2, 9, (5,), dtype=d) for d in {kinds}]"
    for dtype in ("int64", "int32", "int16", "float32", "float64"):
        SCRIPTS[f"randperm_{dtype}"] = f"[torch.randperm(n, dtype=torch.{dtype}) for n in (0, 1, 2, 10, 300)]"
    SCRIPTS["randperm_large"] = "[torch.randperm(3000)]"


def _add_others() -> None:
    SCRIPTS["normal_around"] = (
        "[torch.normal(0.5, 2.0, (20,)), torch.normal(torch.tensor(grid(20, 0, 1)), 2.0), "
        "torch.normal(0.5, torch.tensor(grid(5, 0, 1))), torch.normal(torch.zeros(4, 1), torch.ones(5))]"
    )
    for dtype in ("float32", "float64"):
        weights = f"torch.tensor(grid(60, 0, 1), dtype=torch.{dtype}).reshape(3, 20)"
        for given in ("1", "1, True", "5", "19", "100, True"):
            SCRIPTS[f"multinomial_{given}_{dtype}"] = f"[torch.multinomial({weights}, {given})]"
        rates = f"torch.tensor(grid(50, 0, 60), dtype=torch.{dtype})"
        SCRIPTS[f"poisson_{dtype}"] = f"[torch.poisson({rates})]"
        probabilities = f"torch.tensor(grid(50, 0, 1), dtype=torch.{dtype})"
        counts = f"torch.tensor(grid(50, 0, 98), dtype=torch.{dtype})"
        SCRIPTS[f"binomial_{dtype}"] = f"[torch.binomial({counts}, {probabilities})]"
        SCRIPTS[f"gamma_{dtype}"] = f"[torch._standard_gamma({probabilities} * 4), torch.randn(3)]"
        SCRIPTS[f"dirichlet_{dtype}"] = f"[torch._sample_dirichlet({probabilities}[1:].reshape(7, 7) * 4)]"
    SCRIPTS["rand_like"] = (
        "[torch.rand_like(torch.ones(3, 4)), torch.randn_like(torch.ones(17)), "
        "torch.randint_like(torch.ones(5), 2, 9), "
        "torch.rand_like(torch.ones(3), dtype=torch.float64)]"
    )
    SCRIPTS["interleaved"] = (
        "[torch.randn(3), torch.rand(2), torch.randn(2, dtype=torch.float64), torch.randint(9, (3,)), torch.randn(17), "
        "torch.randn(1), torch.randperm(5), torch.zeros(4).bernoulli_(), torch.zeros(1).exponential_(), torch.randn(1)]"
    )


def _add_dropout() -> None:
    image = "torch.tensor(grid(96, -1, 1)).reshape(2, 4, 3, 4)"
    for call in ("dropout({}, 0.3)", "dropout({}, 1.0)", "dropout2d({}, 0.3)", "dropout3d({}, 0.3)",
                 "dropout1d({}[0], 0.3)", "alpha_dropout({}, 0.3, True)", "feature_alpha_dropout({}, 0.3, True)",
                 "rrelu({}, training=True)", "rrelu({})",
                 "gumbel_softmax({}, 0.7)", "gumbel_softmax({}, hard=True)"):  # fmt: skip
        SCRIPTS[f"functional_{call}"] = f"[torch.nn.functional.{call.format(image)}]"
    for dtype in ("float64", "float16", "bfloat16"):
        SCRIPTS[f"functional_dropout_{dtype}"] = f"[torch.nn.functional.dropout({image}.to(torch.{dtype}), 0.1)]"


for _add in (_add_factories, _add_fills, _add_integers, _add_others, _add_dropout):
    _add()
