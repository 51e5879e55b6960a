"""Text as TeX writes it. What needs it alone imports no table and no figure."""

import unicodedata

_TEX = r"""
\ \textbackslash{}
~ \textasciitilde{}
^ \textasciicircum{}
& \&
% \%
$ \$
# \#
_ \_
{ \{
} \}
< $<$
> $>$
| $|$
[ {[}
] {]}
– --
— ---
“ ``
” ''
‘ `
’ '
… \dots{}
− $-$
± $\pm$
× $\times$
· $\cdot$
→ $\to$
∞ $\infty$
≤ $\le$
≥ $\ge$
≠ $\ne$
≈ $\approx$
∈ $\in$
√ $\surd$
‖ $\|$
° $^\circ$
² $^2$
³ $^3$
₀ $_0$
₁ $_1$
₂ $_2$
"""
"""Characters, each with what TeX writes for it."""
_TEX_OF = {"\n": " ", "\N{NO-BREAK SPACE}": "~"}
_TEX_OF |= dict(line.split(" ", 1) for line in _TEX.strip().splitlines())


def escape(text: str) -> str:
    """Text without TeX commands. Characters that pdfTeX's fonts lack are written as mathematics."""
    escaped = ""
    for character in text:
        name = unicodedata.name(character, "").split()
        if name[:1] == ["GREEK"] and "LETTER" in name:
            letter = name[-1].replace("LAMDA", "LAMBDA")
            escaped += f"$\\{letter.title() if 'CAPITAL' in name else letter.lower()}$"
        else:
            escaped += _TEX_OF.get(character, character)
    return escaped
