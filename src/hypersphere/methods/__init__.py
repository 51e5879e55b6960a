"""Self-supervised methods and a supervised baseline, one file each. All are functions of ``Parts`` and of parameters.

Parameters that they share: ``hidden`` is the width of the hidden layers of projector and predictor, ``dim`` the length
of an embedding, ``layers`` the number of the projector's linear layers; with ``batch_norm`` there is one before each
activation, with ``last_batch_norm`` one of the output, without scale and shift unless a method says so; ``bias`` is of
linear layers without a batch norm after them. ``momentum`` is the weight of the old target (of a memory's old row) in
each update; with the ``momentum_schedule`` ``cosine`` it rises to 1 along half a cosine. ``symmetric``: each view is
predicted from the other; else the second view (the teacher's) from the first. Their docstrings have what is special,
and the paper's values.
"""
