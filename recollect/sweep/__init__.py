"""Sweeps: planners ask for runs, executors train them, the coordinator writes the store."""

from recollect.sweep.coordinator import RETRIES, Listener, lacking, sweep
from recollect.sweep.planners import Grid, Planner

__all__ = ["RETRIES", "Grid", "Listener", "Planner", "lacking", "sweep"]
