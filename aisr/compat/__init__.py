"""What other packages do not promise to keep, and nothing else: all such names are in `private.py`, each with its
reason and a test (`tests/compat/`) that fails when it goes. Importing any of it checks the versions that are installed.
"""

from aisr.compat.versions import check

check()
