"""Executors: who trains the runs."""

from recollect.executors.executor import Executor, Unavailable
from recollect.executors.inline import Inline
from recollect.executors.job import Job, make_job, within_reach
from recollect.executors.local import Local, cores
from recollect.executors.ray import Ray, Wishes

__all__ = ["Executor", "Inline", "Job", "Local", "Ray", "Unavailable", "Wishes", "cores", "make_job", "within_reach"]
