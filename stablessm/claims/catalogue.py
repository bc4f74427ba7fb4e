"""All claims, in the order of the page. Importing this reads no dataset and imports neither NumPy nor xarray."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablessm.claims.record import Claim

_ALL = (
    Claim(
        "definition",
        "exp, softplus and best are stable reparameterizations; direct is none",
        "StableSSM, Definition 3.2",
        ("certificates",),
        "stablessm.claims.theorems:definition",
    ),
    Claim(
        "moves_least",
        "best is the most stable of them under perturbation",
        "StableSSM, whose name for it is best; Definition 3.2 is the measure here",
        ("certificates",),
        "stablessm.claims.theorems:best_moves_least",
    ),
    Claim(
        "complex_eigenvalues",
        "what holds for real eigenvalues holds for complex ones whose real part is reparameterized",
        "taken for granted where the real part alone is reparameterized (S4D, LRU)",
        ("mode_perturbation",),
        "stablessm.claims.theorems:phase",
    ),
    Claim(
        "memory_bound",
        "a stably approximated target has an exponentially decaying memory, with the bound of Theorem 3.1",
        "StableSSM, Theorem 3.1",
        ("memory_bound",),
        "stablessm.claims.theorems:memory_bound",
    ),
    Claim(
        "gradient_bound",
        "gradients of recurrent weights are at most C |f'|/f^2, layer by layer, C the same for every map",
        "StableSSM, Theorem 3.4",
        ("gradient_bound",),
        "stablessm.claims.theorems:gradient_bound",
    ),
    Claim(
        "criterion",
        "best alone has a bounded gradient over weight",
        "StableSSM, Eq. 11 and after",
        ("certificates",),
        "stablessm.claims.theorems:criterion",
    ),
    Claim(
        "largest_step",
        "best alone keeps a stable step that does not vanish with the memory length",
        "this project's form of StableSSM, Eq. 11: one mode at its optimum",
        ("certificates",),
        "stablessm.claims.theorems:largest_step",
    ),
    Claim(
        "poles_and_residues",
        "at large times the output is mostly sensitive to the poles, not to the residues",
        "discussion of StableSSM",
        ("poles_and_residues",),
        "stablessm.claims.theorems:poles",
    ),
    Claim(
        "lines_shift_left",
        "without reparameterization the perturbation at which the error explodes falls with the number of modes",
        "StableSSM, Fig. 1",
        ("perturbation.perturbation_radius", "exact_perturbation.exact_radius"),
        "stablessm.claims.training:shifts_left",
    ),
    Claim(
        "radius_falls",
        "without reparameterization no polynomial memory is stably approximated: the radius goes to 0",
        "StableSSM, Theorem 3.1",
        ("exact_perturbation.exact_radius",),
        "stablessm.claims.training:radius_falls",
    ),
    Claim(
        "stable_never_explodes",
        "with a stable reparameterization the error of a perturbed model stays bounded",
        "StableSSM, Fig. 1 and Theorem 3.3",
        ("perturbation.perturbation_radius", "exact_perturbation.exact_radius"),
        "stablessm.claims.training:never_explodes",
    ),
    Claim(
        "nonlinear_models",
        "trained nonlinear models are stabler under perturbation with a stable map too",
        "StableSSM, Theorem 3.3; Inverse Approximation Theory, section 4",
        ("nonlinear_perturbation",),
        "stablessm.claims.training:nonlinear",
    ),
    Claim(
        "larger_rates",
        "stable reparameterizations survive larger learning rates than direct",
        "StableSSM, Table 2",
        ("largest_rate",),
        "stablessm.claims.training:larger_rates",
    ),
    Claim(
        "best_survives_most",
        "best survives the largest learning rates",
        "StableSSM, Table 2 and section 4.4",
        ("largest_rate", "generalisation.rate_ranks"),
        "stablessm.claims.training:best_largest",
    ),
    Claim(
        "smooth_gradients",
        "along training the gradient over weight is smallest and smoothest for best",
        "StableSSM, Figs. 3 and 4a",
        ("gradient_ratio.ratio_along_training",),
        "stablessm.claims.training:smooth",
    ),
    Claim(
        "direct_does_not_train",
        "direct trains at no learning rate: its loss stays that of chance, and is NaN from 5e-3 on",
        "StableSSM, Table 2",
        ("digits.accuracy",),
        "stablessm.claims.training:direct_fails",
    ),
    Claim(
        "large_rates_help",
        "large learning rates converge faster and generalise better",
        "StableSSM, section 4.4",
        ("generalisation.convergence",),
        "stablessm.claims.rates:large_rates_help",
    ),
    Claim(
        "recurrent_rate_needless",
        "a stable map removes the need for a smaller learning rate of the recurrent weights",
        "StableSSM, discussion; usual practice is a tenth",
        ("recurrent_rate.recurrent_rate",),
        "stablessm.claims.rates:recurrent_rate_needless",
    ),
    Claim(
        "ratio_predicts",
        "a large gradient over weight is what makes a run diverge",
        "StableSSM, Eq. 11 and after",
        ("sharpness.divergence_prediction",),
        "stablessm.claims.rates:ratio_predicts",
    ),
    Claim(
        "rankings_change",
        "the ranking of the maps changes with the learning rate",
        "a reviewer of StableSSM",
        ("generalisation.rate_ranks",),
        "stablessm.claims.rates:rankings_change",
    ),
    Claim(
        "through_minus_one",
        "in discrete time best with b = 1/2 is the less stable, for its eigenvalue can reach -1",
        "this project",
        ("discrete_rates.rate_ranking", "one_mode"),
        "stablessm.claims.rates:through_minus_one",
    ),
)

CLAIMS: Mapping[str, Claim] = MappingProxyType({one.key: one for one in _ALL})
