"""What other packages do not promise to keep, and nothing else: a file for each, which alone may import or name it, and
a test (`tests/compat/`) that fails when it goes or changes. Importing any of it checks the versions that are installed.
"""

from aisr.compat.versions import check

check()
