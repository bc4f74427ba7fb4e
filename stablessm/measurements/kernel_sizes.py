"""The kernel of a DLR and its gradients against the lag, before and after a training."""

from __future__ import annotations

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.comparison import AXES_OF_TRAININGS, ComparisonSettings
from stablessm.measurements.lr_stability import outcome_variables

KERNEL_SIZES = Measurement(
    name="kernel_sizes",
    summary="a DLR's kernel and its gradients by poles and readouts against the lag, before and after training",
    reference="Gupta, Mehta and Berant, DLR (2022), section 3 and its figure of kernels and gradients",
    axes=AXES_OF_TRAININGS,
    settings=ComparisonSettings,
    variables=lambda _: {
        **outcome_variables(),
        "kernel": Variable("size of the kernel, root mean square over channels", dims=("moment", "lag")),
        "kernel_by_pole": Variable(
            "size of the kernel's derivative by a pole, root mean square over channels and poles",
            dims=("moment", "lag"),
        ),
        "kernel_by_readout": Variable(
            "size of the kernel's derivative by a readout, root mean square over poles", dims=("moment", "lag")
        ),
        "modulus": Variable("modulus of the poles", dims=("moment", "quantile")),
    },
    program="stablessm.measurements.kernel_sizes_program:kernel_sizes",
    trains_networks=True,
)
