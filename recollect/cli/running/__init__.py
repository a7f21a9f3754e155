"""What `recollect run` does: find the runs, choose among them, train or search, draw."""
