"""The one error a user should ever read."""

from pathlib import Path


class HypersphereError(Exception):
    """Bad input, said in one sentence that names the file and the field.

    The command prints the sentence and exits with ``status``; nothing half-written is left when it is raised.
    """

    status = 2


class DamagedError(HypersphereError):
    """A file that the pipeline made is missing or altered, and the pipeline can make it again.

    ``proof`` is the file by whose presence Snakemake believes that all is well. Whoever catches the error at the top of
    a job calls ``disprove``, so that the next run makes the thing again.
    """

    def __init__(self, sentence: str, proof: Path) -> None:
        super().__init__(sentence)
        self.proof = proof

    def disprove(self) -> None:
        """Remove the proof; what is damaged is left as it is, to be looked at."""
        self.proof.unlink(missing_ok=True)
