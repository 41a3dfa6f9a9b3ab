"""The scoreboard is no part of the wheel: the checkout is searched for it, after what is
installed.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
