"""Names that a shell can complete; whatever else is given, such as `file.py:Class`, is for the command to judge."""

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from recollect.spec import MIXERS, TASKS
from recollect.spec.protocols import PROTOCOLS
from recollect.studies import STUDIES

QUIET = Parameter(show_choices=False)

if TYPE_CHECKING:
    TaskName = str
    MixerName = str
    StudyName = str
    ProtocolName = str
else:
    TaskName = Annotated[Literal[tuple(TASKS)] | str, QUIET]
    MixerName = Annotated[Literal[tuple(MIXERS)] | str, QUIET]
    StudyName = Annotated[Literal[tuple(STUDIES)] | str, QUIET]
    ProtocolName = Annotated[Literal[tuple(PROTOCOLS)] | str, QUIET]
