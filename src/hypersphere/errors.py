"""Errors that a user reads, each one sentence."""

from pathlib import Path


def in_one_line(text: str) -> str:
    """The text with codes in place of line breaks and other control characters, which could hide what is said."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class HypersphereError(Exception):
    """Something that the user can mend, in one sentence that names the file and the field.

    The command prints the sentence and exits with ``status``. Whoever raises it leaves nothing half-written.
    """

    status = 2

    def __init__(self, sentence: str) -> None:
        super().__init__(in_one_line(sentence))  # what a file holds may be quoted


class DamagedError(HypersphereError):
    """A file that the pipeline wrote is missing or altered, and the pipeline can make it again.

    Snakemake takes the presence of the files ``proofs`` as a sign that all is well. Whoever catches the error at the
    top of a job calls ``disprove``, so that the next run makes the damaged file again.
    """

    def __init__(self, sentence: str, *proofs: Path) -> None:
        super().__init__(sentence)
        self.proofs = proofs

    def disprove(self) -> None:
        """Remove the proofs. A damaged run or array stays, until the new one takes its place."""
        for proof in self.proofs:
            try:
                proof.unlink(missing_ok=True)
            except OSError as error:
                raise HypersphereError(f"{proof}: cannot be removed ({error.strerror})") from None


class NotFiniteError(HypersphereError):
    """A measure has no value, because an encoder's features or a probe's scores are NaN, infinite or zero.

    Any probe may raise it, for scores where its rate is too high; ``evaluate`` then records ``undefined``.
    """
