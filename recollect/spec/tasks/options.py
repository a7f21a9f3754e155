"""What the options of all tasks share."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, PositiveInt

from recollect.spec.base import Frozen


class TaskOptions(Frozen):
    """What all tasks share: how many rows are drawn, and from where. A task is registered by its option class.

    The module that draws is `recollect.tasks.<name>`, its class is called like this one without `Options`.
    """

    only_judged: ClassVar[str] = ""
    """What to train on instead, for a task that is for evaluation only."""

    rows: Annotated[int, Field(gt=0, le=10**9)] | Literal["fresh"] = Field(
        "fresh", description="training rows: a fixed set of so many, or new ones at every step"
    )
    shuffle: bool = Field(True, description="a new order of the fixed set in every epoch")
    validation_rows: PositiveInt = Field(500, le=10**7, description="rows that choose the learning rate and stop runs")
    test_rows: PositiveInt = Field(2000, le=10**7, description="rows that are looked at once, at the end")

    if TYPE_CHECKING:  # fields of some tasks, follow from the fields of others

        @property
        def name(self) -> str: ...
        @property
        def length(self) -> int: ...
        @property
        def vocab_size(self) -> int: ...

    @abstractmethod
    def short(self) -> str:
        """The task and its sizes in a few words, for figures and tables."""
