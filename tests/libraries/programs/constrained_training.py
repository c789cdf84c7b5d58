"""cooper-optim: a classifier trained under constraints by Lagrangians: multipliers, penalties, extrapolation."""

import cooper
import torch

torch.manual_seed(0)
inputs = torch.randn(64, 4)
targets = (inputs[:, 0] + 0.5 * inputs[:, 1] > 0).float()
group = inputs[:, 2] > 0


class Fair(cooper.ConstrainedMinimizationProblem):
    """The loss of all, such that both groups are answered alike and the weights stay small."""

    def __init__(self, formulation, penalty: bool) -> None:
        super().__init__()
        self.parity = cooper.Constraint(
            constraint_type=cooper.ConstraintType.EQUALITY,
            formulation_type=formulation,
            multiplier=cooper.multipliers.DenseMultiplier(num_constraints=1),
            penalty_coefficient=cooper.penalty_coefficients.DensePenaltyCoefficient(torch.tensor([1.0]))
            if penalty
            else None,
        )
        self.small = cooper.Constraint(
            constraint_type=cooper.ConstraintType.INEQUALITY,
            formulation_type=cooper.formulations.Lagrangian,
            multiplier=cooper.multipliers.IndexedMultiplier(num_constraints=4),
        )

    def compute_cmp_state(self, model: torch.nn.Module) -> cooper.CMPState:
        scores = model(inputs)[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, targets)
        rates = scores.sigmoid()
        parity = cooper.ConstraintState(violation=(rates[group].mean() - rates[~group].mean() - 0.1).reshape(1))
        rows = torch.tensor([0, 2])
        small = cooper.ConstraintState(
            violation=model.weight[0, rows].abs() - 0.3, strict_violation=model.weight[0, rows].detach().abs() - 0.3,
            constraint_features=rows, strict_constraint_features=rows,
        )  # fmt: skip
        return cooper.CMPState(loss=loss, observed_constraints={self.parity: parity, self.small: small})


for formulation, scheme in (
    (cooper.formulations.Lagrangian, cooper.optim.SimultaneousOptimizer),
    (cooper.formulations.AugmentedLagrangian, cooper.optim.AlternatingDualPrimalOptimizer),
    (cooper.formulations.Lagrangian, cooper.optim.AlternatingPrimalDualOptimizer),
    (cooper.formulations.Lagrangian, cooper.optim.ExtrapolationConstrainedOptimizer),
):
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 1)
    problem = Fair(formulation, formulation is cooper.formulations.AugmentedLagrangian)
    if scheme is cooper.optim.ExtrapolationConstrainedOptimizer:
        primal = cooper.optim.ExtraAdam(model.parameters(), lr=0.05)
        dual = cooper.optim.ExtraSGD(problem.dual_parameters(), lr=0.1, maximize=True)
    else:
        primal = torch.optim.Adam(model.parameters(), lr=0.05)
        dual = torch.optim.SGD(problem.dual_parameters(), lr=0.1, maximize=True)
    optimizer = scheme(cmp=problem, primal_optimizers=primal, dual_optimizers=dual)
    for _ in range(15):
        out = optimizer.roll(compute_cmp_state_kwargs={"model": model})
    print(scheme.__name__, f"{out.loss.item():.4f}", out.primal_lagrangian_store.lagrangian.detach())
    print(
        model.weight.detach(),
        problem.parity.multiplier.weight.detach(),
        problem.small.multiplier.weight.flatten().detach(),
    )
    saved = optimizer.state_dict()
    print(sorted(saved), sorted(problem.state_dict()))
