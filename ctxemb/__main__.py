"""`python -m ctxemb`."""

from ctxemb.cli import main

main()
