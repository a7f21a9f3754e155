"""The store remembers runs. Tables of results (`store.table`) need pandas and are imported by name."""

from recollect.store.contents import Contents
from recollect.store.file import DEFAULT, NoStore
from recollect.store.lock import Writer, who_writes
from recollect.store.merge import merge
from recollect.store.records import ACCURACY, DONE, STATUSES, WINDOW, Line, Record, Tally, Tells
from recollect.store.store import Store

__all__ = [
    "ACCURACY",
    "DEFAULT",
    "DONE",
    "STATUSES",
    "WINDOW",
    "Contents",
    "Line",
    "NoStore",
    "Record",
    "Store",
    "Tally",
]
__all__ += ["Tells", "Writer", "merge", "who_writes"]
