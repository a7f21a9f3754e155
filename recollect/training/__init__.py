"""Training: one spec -> a stream of events. Never touches the store. Costs are counted without torch."""
