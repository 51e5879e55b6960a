"""How Typst sets a PDF of the project: a source in paper/, and the numbers and names of a content.json."""

import re
from pathlib import Path
from typing import Final

import typst

from hypersphere.errors import HypersphereError
from hypersphere.files import replacing
from hypersphere.report import style

MORE = 8
"""Words of Typst on the place of an error."""
ACCESSIBLE: Final = "ua-1"
"""The standard of PDFs that can be read aloud: tags, a title, a language, and words for each picture and formula."""
OWN = "panicked with: "
"""Before an error of the source itself, such as a sentence that the evidence does not bear."""


def typeset(root: Path, source: str, data: Path, pdf: Path) -> None:
    """Set a PDF from a source of the project and its content. Its time is fixed: equal content is equal bytes.

    Raises:
        HypersphereError: Typst refuses the source, or the source its content. The PDF stays as it was.
    """
    inputs = {"content": address(root, data)}
    try:
        document = typst.compile(
            str(root / source),
            root=str(root),
            sys_inputs=inputs,
            font_paths=[str(style.FONTS)],
            ignore_system_fonts=True,
            timestamp=0,
            pdf_standards=ACCESSIBLE,
        )
    except typst.TypstError as error:
        said = str(error)
        if said.startswith(OWN):
            raise HypersphereError(f"{root / source}: {said.removeprefix(OWN)}") from None
        place = " ".join(str(error.diagnostic).split()[:MORE])
        raise HypersphereError(f"{root / source}: {said} ({place})") from None
    with replacing(pdf) as temporary:
        temporary.write_bytes(bytes(document))


def address(root: Path, file: Path) -> str:
    """A file of the project as Typst finds it."""
    return f"/{file.relative_to(root).as_posix()}"


def with_print_quotes(text: str) -> str:
    """Text with the quotation marks and apostrophes of print."""
    in_marks = re.sub(r'"([^"]*)"', r"“\1”", text)
    return re.sub(r"(?<=\w)'(?=\w)|(?<=s)'(?= )", "’", in_marks)
