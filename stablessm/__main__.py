"""The program `stablessm`, and `python -m stablessm`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an interruption while it is still being imported is said like any other."""
    try:
        from stablessm.cli import main as run
    except KeyboardInterrupt:
        print("Error: interrupted.", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
