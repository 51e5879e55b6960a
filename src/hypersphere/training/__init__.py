"""From a run to its weights: the loop, optimisers, resume states, devices. Probes measure the result."""
