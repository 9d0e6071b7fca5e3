"""`python -m depthlaw`: the command line."""

import sys

from depthlaw.ledger.cli.arguments import main

if __name__ == "__main__":
    sys.exit(main())
