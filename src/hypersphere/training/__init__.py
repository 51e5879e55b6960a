"""From a run to its weights: the loop, optimisers, resume states, devices. What is measured is left to probes."""
