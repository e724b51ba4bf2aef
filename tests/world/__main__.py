"""`python -m tests.world`: play worlds by their seeds, side by side, and tell what came of them."""

import sys

from tests.world.driver import main

sys.exit(main())
