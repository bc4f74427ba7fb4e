"""The command line: each command loads what it needs when it runs; importing it loads no array library."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import typer

from stablessm.cli.analyse import analyse
from stablessm.cli.bench import bench
from stablessm.cli.data import app as data
from stablessm.cli.design import design
from stablessm.cli.diff import diff
from stablessm.cli.doctor import doctor
from stablessm.cli.draw import draw
from stablessm.cli.evaluate import evaluate
from stablessm.cli.interruption import heard
from stablessm.cli.listing import list_
from stablessm.cli.merge import merge
from stablessm.cli.quiet import VARIABLE
from stablessm.cli.report import report
from stablessm.cli.reproduce import reproduce
from stablessm.cli.run import run
from stablessm.cli.sample import sample
from stablessm.cli.show import show
from stablessm.cli.train import train
from stablessm.cli.verify import verify

# Typer brings its own Click and does not export the base of its usage errors.
UsageError = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130

app = typer.Typer(
    name="stablessm",
    help="What the map from weight to eigenvalue does to a state-space model: proofs, numbers and pictures.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from stablessm import __version__

        typer.echo(f"stablessm {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help=f"Tell no progress, only what goes wrong ({VARIABLE}=1)."),
) -> None:
    if quiet:
        os.environ[VARIABLE] = "1"


app.command("list")(list_)
app.command()(design)
app.command()(verify)
app.command()(run)
app.command()(analyse)
app.command()(draw)
app.command()(show)
app.command()(diff)
app.command()(merge)
app.command()(reproduce)
app.command()(report)
app.command()(train)
app.command()(evaluate)
app.command()(sample)
app.command()(bench)
app.add_typer(data)
app.command()(doctor)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 well, 1 a run failed, 2 bad input, 130 interrupted.

    An error is one line on stderr, `Error: ...`. What is not an error of the user's is not caught.

    Args:
        arguments: the words after the program's name; those of the process by default.
    """
    command = typer.main.get_command(app)
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        with heard():
            code = command.main(args=words, prog_name="stablessm", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)
    except UsageError as error:
        _fail(error.format_message(), BAD_INPUT)
    except ValueError as error:
        if not type(error).__module__.startswith("stablessm."):
            raise
        _fail(str(error), BAD_INPUT)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(FAILED)
    except Exception as error:
        if not _of_an_interruption(error):
            raise
        _fail("interrupted", INTERRUPTED)
    if code == INTERRUPTED:  # Typer has turned the KeyboardInterrupt into an exit code
        _fail("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _of_an_interruption(error: BaseException | None) -> bool:
    """Whether an error stands for a KeyboardInterrupt: one that comes while a class is made becomes a RuntimeError."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _fail(sentence: str, code: int) -> None:
    line = " ".join(sentence.split()).rstrip(".") + "."
    print(f"Error: {line}", file=sys.stderr)
    threads = sys.modules.get("stablessm.sweeps.threads")
    if code == INTERRUPTED and threads is not None and threads.at_work():
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)  # what compiles cannot be stopped, and need not be waited for: what is done is on the disk
    sys.exit(code)
