"""Sweeps: planners ask for runs, executors train them, the coordinator writes the store."""

from recollect.sweep.coordinator import RETRIES, Listener, lacking, sweep
from recollect.sweep.planners import BestRate, Grid, Planner

__all__ = ["RETRIES", "BestRate", "Grid", "Listener", "Planner", "lacking", "sweep"]
