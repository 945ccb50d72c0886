"""`python -m elastic_consistency` is the command `elastic`."""

import sys

from elastic_consistency.cli import main

if __name__ == "__main__":
    sys.exit(main())
