"""Messages are read strictly, tuning tables become sliders, frames are small."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from counterpoise.character.library import character
from counterpoise.control import Stand
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.simulate import World
from counterpoise.studio.commands import DragBody, SetLive
from counterpoise.studio.frames import HEAD, POSED, PoseFrame, pack_frame, pack_track
from counterpoise.studio.live_controllers import CONTROLLERS, make_controller
from counterpoise.studio.messages import command_kinds, read_command
from counterpoise.studio.tuning import sliders_of, tuned
from counterpoise.studio.workshop import HANDLERS


def test_every_command_has_somebody_who_carries_it_out() -> None:
    assert set(HANDLERS) == set(command_kinds().values())


def test_a_command_is_read_with_its_defaults() -> None:
    found = read_command('{"type": "drag_body", "seq": 7, "body": "head", "target": [0, 1, 2.5], "turn": null}')
    assert found == DragBody(7, "head", (0.0, 1.0, 2.5))
    assert read_command('{"type": "set_live"}') == SetLive()


@pytest.mark.parametrize("text", [
    '{"type": "drag_body", "seq": 7.5, "body": "head", "target": [0, 1, 2]}', '{"type": "drag_body", "seq": 1}',
    '{"type": "drag_body", "seq": 1, "body": "head", "target": [0, 1]}', '{"type": "set_live", "speed": "fast"}',
    '{"type": "drag_body", "seq": 1, "body": "head", "target": [0, 1, NaN]}', '{"type": "set_live", "paused": 1}',
    '{"type": "pin_body", "body": "head", "hold": "hard"}', '{"type": "edit_scene", "edit": "x", "values": []}',
    '{"type": 3}', "{}", "3", '{"type": "nonsense"}', "{" * 100000, '{"type": "set_live", "speed": 1e999}',
])  # fmt: skip
def test_wrong_commands_are_refused(text: str) -> None:
    with pytest.raises(CounterpoiseError):
        read_command(text)


def test_a_frame_is_about_half_a_kilobyte() -> None:
    human = character("human")
    data = pack_frame(PoseFrame(POSED, human, human.neutral, seq=5, revision=9))
    assert len(data) < 700
    head = HEAD.unpack_from(data)
    assert head[0] == POSED and head[4] == len(human.segments) and head[6:10] == (0, 0, 5, 9)
    corners = head[3]
    assert corners >= 3  # it stands on its feet
    places = np.frombuffer(data, "<f4", 3 * len(human.segments), HEAD.size).reshape(-1, 3)
    assert abs(places[0, 2] - human.neutral[2]) < 1e-6
    assert len(data) == HEAD.size + 4 * (7 * len(human.segments) + 2 * corners)


def test_a_track_holds_every_frame() -> None:
    human = character("human")
    data = pack_track(human, np.array([0.0, 0.5]), [human.neutral, human.neutral])
    assert data[:4] == b"CPT1" and struct.unpack_from("<II", data, 4) == (2, len(human.segments))
    assert len(data) == 12 + 4 * 2 * (1 + 3 + 7 * len(human.segments))


def test_tuning_tables_become_sliders_with_units() -> None:
    sliders = {(one.table, one.name): one for one in sliders_of(Stand())}
    assert sliders["controller", "compliance"].value == 0.5
    stiffness = sliders["tuning", "stiffness"]
    assert stiffness.unit == "1/s^2" and stiffness.low <= stiffness.value <= stiffness.high and stiffness.meaning
    assert tuned(Stand(), "tuning", "stiffness", 300.0).tuning.stiffness == 300.0
    assert tuned(Stand(), "controller", "recover", True).recover is True
    with pytest.raises(BadValue):
        tuned(Stand(), "controller", "recover", 0.5)
    with pytest.raises(CounterpoiseError):
        tuned(Stand(), "tuning", "stifness", 1.0)
    with pytest.raises(CounterpoiseError):
        tuned(Stand(), "tuning", "stiffness", -1.0)


def test_every_controller_of_the_list_can_be_made() -> None:
    human = character("human")
    for name in CONTROLLERS:
        assert make_controller(name, human.neutral, World()).begin(human) is not Ellipsis
