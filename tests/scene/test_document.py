"""A TOML text is changed entry by entry; all else stays to the byte."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoise.errors import BadValue
from counterpoise.scene.document import TomlDocument

TEXT = """\
# A jump, by hand.
name = "jump"   # its name
taste.smooth = 1.0
colours = [
    1, # one
    2,
]

# standing
[[key]]
time = 0.0
rest = true     # still

[[key]]         # the landing
time = 1.6
joints = { knee = 10, "hip left" = [1, 2] }

[key.extra]
x = 1

[motions.walk]
clip = "walk.bvh"
"""


def document() -> TomlDocument:
    return TomlDocument(TEXT)


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("name",), "hop", 'name = "hop"   # its name'),
        (("key", 0, "rest"), False, "rest = false     # still"),
        (("key", 1, "joints", "knee"), 12.5, 'joints = { knee = 12.5, "hip left" = [1, 2] }'),
        (("key", 1, "extra", "y"), 2, "y = 2"),
        (("taste", "near"), 0.5, "taste.near = 0.5"),
        (("world", "friction"), 0.7, "friction = 0.7"),
        (("motions", "walk", "from"), 0.25, "from = 0.25"),
        (("colours",), [3], "colours = [3]"),
    ],
)
def test_one_entry_changes_and_the_rest_stays(path: Any, value: Any, line: str):
    after = document().with_value(path, value)
    assert after.get(path) == value
    assert line in after.text.splitlines()
    before = [row for row in TEXT.splitlines() if row in after.text.splitlines()]
    touched = 6 if path == ("colours",) else 1
    assert len(before) >= len(TEXT.splitlines()) - touched


def test_tables_are_added_behind_their_kind_and_removed_with_their_comment():
    added = document().with_table(("key",), {"time": 0.8, "name": None})
    assert [k["time"] for k in added.data["key"]] == [0.0, 1.6, 0.8]
    assert added.text.index("time = 0.8") < added.text.index("[motions.walk]")
    gone = added.without(("key", 0))
    assert [k["time"] for k in gone.data["key"]] == [1.6, 0.8]
    assert "# standing" not in gone.text and "# the landing" in gone.text
    bare = gone.without(("key", 0))
    assert "extra" not in bare.text and bare.data["key"] == [{"time": 0.8}]


def test_line_ends_of_other_systems_stay():
    windows = TomlDocument(TEXT.replace("\n", "\r\n"))
    after = windows.with_value(("key", 1, "time"), 1.7).with_table(("key",), {"time": 2.0}).with_value(("new",), 1)
    assert after.text.count("\n") == after.text.count("\r\n")
    assert windows.with_value(("name",), "jump").text == windows.text


def test_what_is_not_there_is_said():
    with pytest.raises(BadValue, match=r"no entry 'key\[7\]'"):
        document().without(("key", 7))
    with pytest.raises(BadValue, match="is a table"):
        document().with_value(("motions", "walk"), 1)
    with pytest.raises(BadValue, match="finite"):
        document().with_value(("x",), float("nan"))


NAMES = st.sampled_from(["a", "b", "with space", "ü", "c-1"])
LEAVES = st.one_of(
    st.booleans(),
    st.integers(-9, 9),
    st.floats(-1e6, 1e6),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
CHANGES = st.lists(
    st.one_of(
        st.tuples(
            st.just("set"), st.sampled_from([(), ("key", 0), ("key", 1), ("motions", "walk"), ("w",)]), NAMES, VALUES
        ),
        st.tuples(st.just("add"), st.sampled_from([("key",), ("push",), ("motions", "walk", "key")]), NAMES, VALUES),
        st.tuples(st.just("remove"), st.sampled_from([("key", 0), ("motions", "walk"), ("w",)]), NAMES, VALUES),
    ),
    max_size=8,
)


@given(CHANGES)
@settings(max_examples=150, deadline=None)
def test_random_changes_say_what_they_should(changes: list[Any]):
    """The text is read by another reader after each change, and compared with the same change of plain values."""
    made, plain = document(), tomllib.loads(TEXT)
    for what, path, name, value in changes:
        host: Any = plain
        try:
            for part in path[:-1]:
                host = host[part]
            inner = host[path[-1]] if path else plain
        except (KeyError, IndexError):
            inner = None
        if what == "set" and (path == () or inner is not None) and not isinstance(inner.get(name), dict | list):
            made = made.with_value((*path, name), value)
            inner[name] = value
        elif what == "add" and (len(path) == 1 or "walk" in plain.get("motions", {})):
            made = made.with_table(path, {name: value})
            (plain if len(path) == 1 else plain["motions"]["walk"]).setdefault(path[-1], []).append({name: value})
        elif what == "remove" and inner is not None:
            made = made.without(path)
            del host[path[-1]]
        read = tomllib.loads(made.text)
        assert {k: v for k, v in read.items() if v not in ([], {})} == {
            k: v for k, v in plain.items() if v not in ([], {})
        }
