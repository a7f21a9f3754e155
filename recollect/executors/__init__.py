"""Executors: who trains the runs."""

from recollect.executors.executor import Executor, Job
from recollect.executors.inline import Inline

__all__ = ["Executor", "Inline", "Job"]
