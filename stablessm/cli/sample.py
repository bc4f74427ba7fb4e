"""`stablessm sample`: what a trained network makes of a beginning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stablessm.cli.data_folder import DataFolder, use_data_folder
from stablessm.cli.options import Out


def sample(
    checkpoint: Annotated[Path, typer.Argument(help="The checkpoint of a training run.")],
    prefix: Annotated[int, typer.Option(help="True values that are given; everything behind them is drawn.")] = 0,
    count: Annotated[int, typer.Option(help="Rows.")] = 8,
    temperature: Annotated[float, typer.Option(help="Below 1 more certain, above it less.")] = 1.0,
    top_k: Annotated[int, typer.Option("--top-k", help="Draw among so many of the likeliest; 0 for all.")] = 0,
    seed: Annotated[int, typer.Option(help="Of which rows, and of what is drawn.")] = 0,
    length: Annotated[
        int | None, typer.Option(help="Steps of a row in all, as many as the data have by default.")
    ] = None,
    split: Annotated[str, typer.Option(help="test or validation.")] = "test",
    format_: Annotated[
        list[str] | None, typer.Option("--format", help="Of the picture: pdf, svg or png. All by default.")
    ] = None,
    data: DataFolder = None,
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    out: Out = None,
) -> None:
    """Draw the rest of some rows of the data, step by step, beside what is true.

    The network is one that was asked what comes next: of a text, or with --set ask=next of images and recordings. What
    comes of it is NAME.samples.nc, a picture of images and of waveforms, wav files of recordings, and text on stdout.

    Examples:

        stablessm sample results/raw/next_pixel.checkpoint --prefix 300 --count 8 --data FOLDER

        stablessm sample results/raw/characters.checkpoint --prefix 64 --length 200 --count 2 --top-k 20 --data FOLDER
    """
    from stablessm.cli.draw import still_formats
    from stablessm.cli.pipeline import writing
    from stablessm.plotting import completions
    from stablessm.plotting.saving import drawn, save
    from stablessm.sweeps.device import DEVICES
    from stablessm.sweeps.errors import SpecError, unknown
    from stablessm.sweeps.folders import check

    formats = still_formats(format_)
    if device not in DEVICES:
        raise SpecError(f"--device: {unknown('device', device, DEVICES)}.")
    where = check(out)
    use_data_folder(data)
    from stablessm.runs.sampling import sample as sampled

    with writing():
        found = sampled(
            checkpoint, prefix=prefix, count=count, temperature=temperature, top_k=top_k, seed=seed, length=length,
            split=split, out=out, device=device,  # type: ignore[arg-type]
        )  # fmt: skip
        pictures = []
        if found.dataset.attrs["kind"] != "text":
            picture = drawn(completions.draw, found.dataset)
            pictures = save(picture, where.figures, f"{found.declaration.name}.samples", formats)
    for given, text in found.texts:
        typer.echo(f"{given}|{text}\n")
    for path in (found.path, *pictures, *found.sounds):
        typer.echo(f"saved {path}")
