"""The store remembers runs. Tables of results (`store.table`) need pandas and are imported by name."""

from recollect.store.contents import Contents
from recollect.store.lock import Writer, who_writes
from recollect.store.merge import merge
from recollect.store.records import DONE, STATUSES, Line, Record, Tally
from recollect.store.store import DEFAULT, NoStore, Store

__all__ = ["DEFAULT", "DONE", "STATUSES", "Contents", "Line", "NoStore", "Record", "Store", "Tally", "Writer"]
__all__ += ["merge", "who_writes"]
