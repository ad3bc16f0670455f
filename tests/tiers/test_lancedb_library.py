"""LanceDB is imported without what nobody here uses of it, and nobody misses it."""

import subprocess
import sys

LOADS = """
import sys
from pagemind.runtime.tiers import lancedb_library
lancedb = lancedb_library.load()
print(lancedb.connect("memory://").list_tables().tables)
print("lance_namespace_urllib3_client.api" in sys.modules)
import lance_namespace_urllib3_client as client
print(hasattr(client, "__wrapped__"), hasattr(client, "NoSuchName"))
from lance_namespace_urllib3_client import TableApi
print(TableApi.__name__, lancedb_library.load() is lancedb)
"""


def test_the_rest_client_is_loaded_when_it_is_asked_for() -> None:
    """Not before; then it is all there, and what it lacks is an AttributeError."""
    done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "False", "False False", "TableApi True"], done.stderr
