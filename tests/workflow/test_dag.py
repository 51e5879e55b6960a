"""The arrows in the picture of the DAG are those of Snakemake's own graph of rules."""

import re
from fnmatch import fnmatch

import networkx as nx
import pytest

from hypersphere.command.dag import BOXES

from .conftest import Checkout, scale_on_real_images

pytestmark = pytest.mark.tools

COLLECTING = {"all", "everything", "reproduce", "records", "runs", "data"}
"""Rules without jobs of their own: targets that people type."""


def box_of(rule: str) -> str:
    """The box in which a rule is shown; exactly one."""
    (found,) = [box.rule for box in BOXES if fnmatch(rule, box.rule)]
    return found


def test_arrows_are_what_snakemake_says_and_every_other_wait_follows_from_them(
    place: Checkout,
) -> None:
    """At a scale on real images with records, whose claims the report reads."""
    scale_on_real_images(place)
    records = place.root / "evidence" / "laptop" / "runs.csv"
    records.parent.mkdir(parents=True)
    records.touch()
    said = place.snakemake(
        "--rulegraph", "--forceall", "everything", "records", settings=("scale=laptop",)
    ).stdout
    names = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)"', said, flags=re.MULTILINE))
    graph = nx.DiGraph()
    for start, end in re.findall(r"^\s*(\d+) -> (\d+)$", said, flags=re.MULTILINE):
        if not {names[start], names[end]} & COLLECTING:
            graph.add_edge(box_of(names[start]), box_of(names[end]))
    drawn = nx.DiGraph((before, box.rule) for box in BOXES for before in box.after)
    assert {*drawn.edges} <= {*graph.edges}
    assert {*nx.transitive_closure(drawn).edges} == {*nx.transitive_closure(graph).edges}
