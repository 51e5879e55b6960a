"""The one error a user should ever read."""


class HypersphereError(Exception):
    """Bad input, said in one sentence that names the file and the field.

    The command prints the sentence and exits with status 2; nothing has been written when it is raised.
    """
