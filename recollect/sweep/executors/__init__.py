"""Executors: who trains the runs."""

from recollect.sweep.executors.executor import Executor, Unavailable
from recollect.sweep.executors.inline import Inline
from recollect.sweep.executors.job import Job, make_job, within_reach
from recollect.sweep.executors.local import Local, cores
from recollect.sweep.executors.ray import Ray, Wishes

__all__ = ["Executor", "Inline", "Job", "Local", "Ray", "Unavailable", "Wishes", "cores", "make_job", "within_reach"]
