"""What every dataset made by hand is put together from."""

import numpy as np
import xarray as xr

MAPS = ("direct", "exp", "softplus", "best", "tanh", "sigmoid", "square", "relu", "clip")
USER = ("best (b=0.1)", "1/(w^2 + 0.7)", "$a_b$ 50% & {x} # \\x ~", "log(1 + cosh(w))/(1 + 0.1*log(1 + cosh(w)))**2")
OUTCOMES = ("converged", "step_limit", "collapsed", "diverged", "nonfinite", "outside_domain", "not_computed")
AXES = {
    "parameterization": ("parameterization", MAPS[:4]),
    "link": ("link", ("continuous",)),
    "target": ("target", ("polynomial",)),
    "optimizer": ("optimizer", ("adam",)),
    "width": ("width", (64,)),
    "task": ("task", ("shift", "sort", "mips")),
    "model": ("model", ("dlr", "attention_4_heads")),
    "length": ("length of the series", (1024, 4096, 16384)),
    "seed": ("seed", (0, 1, 2)),
    "learning_rate": ("learning rate", (1e-3, 1e-2, 1e-1, 1.0)),
    "step": ("optimisation step", tuple(range(0, 100, 10))),
    "quantile": ("quantile", (0.0, 0.25, 0.5, 0.75, 1.0)),
    "time": ("time", tuple(float(k) for k in range(60))),
    "lag": ("lag", (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)),
    "state": ("state", tuple(range(6))),
    "statement": ("statement", ("stability", "curvature")),
    "memory_length": ("memory length", tuple(np.geomspace(0.1, 1e4, 25))),
    "dtype": ("number format", ("float32", "bfloat16", "float16")),
    "weight": ("raw weight", tuple(np.linspace(-6, 6, 49))),
    "decay": ("decay", tuple(np.geomspace(1e-3, 1.9, 25))),
    "perturbed": ("perturbed weights", ("all",)),
    "ball": ("norm of the perturbation", ("inf",)),
    "error_horizon": ("horizon of the error", (100, 1000)),
    "repeat": ("direction of the perturbation", (0, 1)),
    "beta": ("size of the perturbation", (0.0, 1e-3, 1e-2, 1e-1, 1.0)),
    "activation": ("activation", ("tanh",)),
    "norm": ("norm of the error", ("sobolev",)),
    "domain": ("domain of time", ("continuous",)),
    "extent": ("extent of time", ("infinite", "finite")),
    "fit": ("fit", ("best", "given_signed", "given_nonnegative", "rational")),
    "stop": ("end of the training", ("steps", "previous_width")),
    "layer": ("layer", (1, 2)),
    "power": ("power of the target", (0.9, 1.5)),
    "potential": ("potential", ("quartic", "quadratic", "root")),
    "start": ("starting point", (0.98, 1.02)),
    "start_ratio": ("starting decay over target decay", (0.99, 0.5)),
    "kind": ("kind of layer", ("s4", "lstm", "attention", "lru", "s5")),
    "system": ("system", ("scaled", "fixed")),
    "stage": ("stage of training", ("start", "end")),
    "series_length": ("length of a series", (16, 64, 256, 1024)),
    "moment": ("steps so far", (30, 50)),
    "step_ratio": ("step over the largest stable one", (0.98, 1.02)),
}


def described(name, units="1", **more):
    return {"long_name": name, "units": units, **more}


def flags(*meanings):
    return {"flag_values": np.arange(len(meanings), dtype=np.int8), "flag_meanings": " ".join(meanings)}


def dataset(variables, sizes):
    """variables: name -> (dims, function of the grids of those dims, attributes)."""
    values = {name: np.asarray(sizes.get(name, default)) for name, (_, default) in AXES.items()}
    used = {name for dims, _, _ in variables.values() for name in dims}
    made = xr.Dataset(coords={n: (n, values[n], described(AXES[n][0])) for n in AXES if n in used})
    for name, (dims, fill, attributes) in variables.items():
        shape = tuple(len(values[one]) for one in dims)
        grids = np.meshgrid(*(np.arange(size) for size in shape), indexing="ij")
        made[name] = (dims, np.broadcast_to(fill(**dict(zip(dims, grids, strict=True))), shape).copy(), attributes)
    return made


RUN = ("parameterization", "link", "target", "optimizer", "width", "seed", "learning_rate")
