"""`python -m stablessm`."""

from stablessm.cli import main

main()
