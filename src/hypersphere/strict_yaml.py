"""YAML without surprises: a key given twice, a tag, a date or a document that unfolds without end is an error.

PyYAML's safe loader takes the last of two equal keys, turns ``2024-01-02`` into a date and reads ``1e-3`` as text. It
also shares what an alias repeats, so that a few lines can stand for billions of values.
"""

import re
from typing import Any

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode

LARGEST = 5_000_000
"""Characters of a document; the project's largest file has a hundredth of that."""
MOST_VALUES = 500_000
"""Values of a document after aliases are written out."""
DEEPEST = 100
"""Levels of nesting; PyYAML's C code would overflow the stack at some ten thousand."""
_YAML = "tag:yaml.org,2002:"
_MERGE, _DATE, _FLOAT = (f"{_YAML}{kind}" for kind in ("merge", "timestamp", "float"))
_KINDS = {f"{_YAML}{kind}" for kind in ("null", "bool", "int", "float", "str", "seq", "map", "merge")}
"""The tags of values as YAML itself tells them apart; any other tag was written out."""


class InvalidYamlError(ValueError):
    """The text is no YAML that this project reads; the message says where and why, without the file's name."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, in C if PyYAML has it: ten times as fast."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _DATE]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_FLOAT, re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$"), [*"-+0123456789"])


def parse(text: str) -> Any:
    """The value of a YAML document.

    Raises:
        InvalidYamlError: it is not YAML, too large, gives a key twice, has a tag, or an alias to itself.
    """
    if len(text) > LARGEST:
        raise InvalidYamlError(f"{len(text):,} characters, more than {LARGEST:,}")
    try:
        _check_depth(text)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _check(node)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise InvalidYamlError(_sentence(error)) from None
    except InvalidYamlError:
        raise
    except (ValueError, OverflowError) as error:  # a number that Python cannot hold
        raise InvalidYamlError(" ".join(str(error).split())) from None


def _check_depth(text: str) -> None:
    """Check how deep the values of a document are nested, before anything is built.

    Raises:
        InvalidYamlError: deeper than ``DEEPEST``.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else "?"
            raise InvalidYamlError(f"line {line}: values are nested more than {DEEPEST} levels deep")


def _check(root: Node) -> None:
    """Check every node of a document, each once.

    Raises:
        InvalidYamlError: a key is given twice, a tag is not a plain value's, an alias refers to the value that holds
            it, or there are too many values.
    """
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, visited = waiting.pop()
        children = _children(node)
        if visited:
            open_nodes.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in children)
            if sizes[id(node)] > MOST_VALUES:
                raise InvalidYamlError(f"{_place(node)}: more than {MOST_VALUES:,} values, with aliases written out")
        elif id(node) in open_nodes:
            raise InvalidYamlError(f"{_place(node)}: an alias refers to the value that holds it")
        elif id(node) not in sizes:
            open_nodes.add(id(node))
            _check_tag(node)
            _check_keys(node)
            waiting += [(node, True), *((child, False) for child in children)]


def _children(node: Node) -> list[Node]:
    if isinstance(node, ScalarNode):
        return []
    if isinstance(node, MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value)


def _check_tag(node: Node) -> None:
    if node.tag not in _KINDS:
        raise InvalidYamlError(f"{_place(node)}: the tag {node.tag.replace(_YAML, '!!')} is not allowed")


def _check_keys(node: Node) -> None:
    """Check that a mapping gives each of its own keys once; keys merged from an alias may be given again."""
    if not isinstance(node, MappingNode):
        return
    first: dict[tuple[str, str], Node] = {}
    for key, _ in node.value:
        if not isinstance(key, ScalarNode):
            raise InvalidYamlError(f"{_place(key)}: a key must be a single word or number")
        if key.tag == _MERGE:
            continue
        before = first.setdefault((key.tag, key.value), key)
        if before is not key:
            line = before.start_mark.line + 1
            raise InvalidYamlError(f"{_place(key)}: the key '{key.value}' is given twice, first on line {line}")


def _place(node: Node) -> str:
    return f"line {node.start_mark.line + 1}"


def _sentence(error: yaml.YAMLError) -> str:
    """PyYAML's complaint in one line that begins with the place."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).replace('in "<unicode string>", ', "at ").split())
    mark = error.problem_mark or error.context_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    problem = str(error.problem or error.context)
    if error.context and error.problem:
        problem = f"{error.context}, {problem}" if problem.startswith("but ") else f"{problem} {error.context}"
    return f"{place}{problem}"
