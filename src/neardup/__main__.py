"""`python -m neardup` is the command `neardup`."""

import sys

from neardup.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
