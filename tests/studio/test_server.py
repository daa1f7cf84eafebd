"""The server lets in only its own pages: token, host, origin; files of the client and of its folder, nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from studio_bench import PORT, TOKEN

from counterpoise.errors import BadFile, BadValue
from counterpoise.studio import file_routes
from counterpoise.studio.exporting import KINDS
from counterpoise.studio.file_routes import checked_name
from counterpoise.studio.folder import Folder
from counterpoise.studio.frames import HEAD

HOST = f"127.0.0.1:{PORT}"
OURS = {"host": HOST, "origin": f"http://{HOST}"}


def test_the_page_needs_the_token(client: TestClient) -> None:
    assert client.get("/").status_code == 403
    assert client.get("/?token=wrong").status_code == 403
    page = client.get(f"/?token={TOKEN}")
    assert page.status_code == 200 and "importmap" in page.text
    policy = page.headers["content-security-policy"]
    nonce = re.search(r"'nonce-([^']+)'", policy)
    assert nonce and f'nonce="{nonce.group(1)}"' in page.text
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy


def test_every_page_has_a_nonce_of_its_own(client: TestClient) -> None:
    first, second = (client.get(f"/?token={TOKEN}").headers["content-security-policy"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"host": "127.0.0.1:1"}, {"origin": "http://evil.example"},
                                     {"origin": "null"}, {"sec-fetch-site": "cross-site"}])  # fmt: skip
@pytest.mark.parametrize("path", [f"/?token={TOKEN}", "/client/main.js", f"/script?token={TOKEN}"])
def test_other_hosts_and_origins_are_refused(client: TestClient, headers: dict[str, str], path: str) -> None:
    assert client.get(path, headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/script", "/curves", "/export/bvh", "/figures/x.glb", "/tracks/main-0.bin",
                                  "/figures/x/smooth.glb", "/limits"])  # fmt: skip
def test_every_answer_about_the_scene_needs_the_token(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 403
    assert client.post("/files?name=x.bvh", content=b"").status_code == 403


@pytest.mark.parametrize("path", ["/client/../server.py", "/client/%2e%2e/server.py", "/client/..%2fserver.py",
                                  "/client//etc/passwd", "/client/%2fetc%2fpasswd", "/client/messages.d.ts", "/client/",
                                  "/client/vendor/three", "/client/vendor/lock.json"])  # fmt: skip
def test_only_files_of_the_client_are_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code in (403, 404)  # without its dots a path leaves /client, and needs the token


def test_the_files_of_the_client_are_served(client: TestClient) -> None:
    for path, kind in (("main.js", "javascript"), ("style.css", "css"), ("icon.svg", "svg"),
                       ("vendor/three/build/three.module.js", "javascript")):  # fmt: skip
        answer = client.get(f"/client/{path}")
        assert answer.status_code == 200 and kind in answer.headers["content-type"]
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers", [{"host": HOST}, {"host": HOST, "origin": "http://evil.example"}, {**OURS, "host": "x.y"}]
)
@pytest.mark.parametrize("token", [TOKEN, "wrong", ""])
def test_a_websocket_needs_token_origin_and_host(client: TestClient, headers: dict[str, str], token: str) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"/ws?token={token}", headers=headers):
        pass
    if token != TOKEN:
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"/ws?token={token}", headers=OURS):
            pass


def test_a_page_is_told_everything_and_bad_messages_get_a_sentence(client: TestClient) -> None:
    with client.websocket_connect(f"/ws?token={TOKEN}", headers=OURS) as socket:
        kinds = [json.loads(socket.receive_text())["type"] for _ in range(6)]
        assert kinds[:4] == ["studio_ready", "scene_changed", "rules_changed", "live_changed"]
        assert HEAD.unpack_from(socket.receive_bytes())[0] == 1
        for text in (
            "nonsense",
            "[]",
            '{"type": "open_fil"}',
            '{"type": "open_file", "name": 3}',
            '{"type": "look_at", "when": 1}',
        ):
            socket.send_text(text)
            said = json.loads(socket.receive_text())
            assert said["type"] == "trouble" and said["message"]
        socket.send_text('{"type": "open_file", "name": "../secret.toml"}')
        assert "relative to the folder" in json.loads(socket.receive_text())["message"]
        socket.send_text('{"type": "save_scene", "name": "/tmp/out.toml"}')
        assert json.loads(socket.receive_text())["type"] == "trouble"


def test_meshes_frames_curves_and_exports(client: TestClient) -> None:
    with client.websocket_connect(f"/ws?token={TOKEN}", headers=OURS) as socket:
        events = [json.loads(socket.receive_text()) for _ in range(6)]
        scene = events[1]
        mesh = client.get(f"{scene['figure']['mesh']}?token={TOKEN}")
        assert mesh.content[:4] == b"glTF"
        assert client.get(f"{scene['track']}?token={TOKEN}").content[:4] == b"CPT1"
        found = client.get(f"/curves?names=com height|knee_left&token={TOKEN}").json()
        assert [curve["unit"] for curve in found["curves"]] == ["m", "deg"] and len(found["known"]) > 30
        assert client.get(f"/curves?names=nose&token={TOKEN}").status_code == 400
        assert client.get(f"/export/bvh?token={TOKEN}").text.startswith("HIERARCHY")
        assert client.get(f"/export/glb?token={TOKEN}").content[:4] == b"glTF"
        assert "<mujoco" in client.get(f"/export/xml?token={TOKEN}").text
        assert client.get(f"/export/doc?token={TOKEN}").status_code == 400
        assert client.get(f"/script?token={TOKEN}").text.startswith("import counterpoise as cp")


def test_files_that_take_seconds_are_made_apart(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def made_apart(what: str, make: object, motion: object, kind: str) -> bytes:
        made.append(kind)
        return b"made"

    monkeypatch.setattr(file_routes, "made_apart", made_apart)
    for kind in KINDS:
        assert client.get(f"/export/{kind}?token={TOKEN}").status_code == 200
    assert sorted(made) == ["glb", "mp4", "png", "usda"]


def test_the_smooth_body_has_the_bones_of_the_shapes_and_is_made_once(client: TestClient) -> None:
    with client.websocket_connect(f"/ws?token={TOKEN}", headers=OURS) as socket:
        figure = [json.loads(socket.receive_text()) for _ in range(6)][1]["figure"]
        found = [client.get(f"{figure[name]}?token={TOKEN}").content for name in ("mesh", "smooth", "smooth")]
    assert found[1] == found[2] and found[1] != found[0]
    names = []
    for data in found[:2]:
        root = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
        names.append([root["nodes"][joint]["name"] for joint in root["skins"][0]["joints"]])
    assert names[0] == names[1] == [body["name"] for body in figure["bodies"]]
    assert client.get(f"/figures/other/smooth.glb?token={TOKEN}").status_code == 404


def test_limits_are_seen_before_they_are_changed(client: TestClient) -> None:
    with client.websocket_connect(f"/ws?token={TOKEN}", headers=OURS) as socket:
        joints = [json.loads(socket.receive_text()) for _ in range(6)][1]["figure"]["joints"]
    now = next(joint for joint in joints if joint["name"] == "hip_left")["limits"]
    side = now["grips"][0]
    asked = {"joint": "hip_left", "side": side["side"], "angle": side["angle"] - 5.0, "token": TOKEN}
    then = client.get("/limits", params=asked).json()
    assert then["grips"][0]["angle"] == pytest.approx(side["angle"] - 5.0)
    assert then["grips"][1:] != [] and then["outline"] != now["outline"] and then["middle"] == now["middle"]
    for bad in ({"joint": "nose"}, {"side": "top"}, {"angle": "wide"}, {"angle": "500"}, {"joint": "root"}):
        assert client.get("/limits", params=asked | bad).status_code == 400


def test_a_folder_is_not_left(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "secret.toml"
    inside.mkdir()
    outside.write_text("x")
    (inside / "link.toml").symlink_to(outside)
    (inside / "own.toml").write_text("x")
    folder = Folder(inside)
    for name in ("../secret.toml", "/etc/passwd", "a/../../secret.toml", "link.toml", "", "a\\b", "c:x", "x\0y"):
        with pytest.raises(BadValue):
            folder.path(name)
    assert folder.read("own.toml") == inside / "own.toml"
    with pytest.raises(BadFile):
        folder.read("other.toml")
    assert folder.listing() == ("own.toml",)


@pytest.mark.parametrize(
    "name", ["", "../x.bvh", "a/b.bvh", ".hidden.bvh", "x.py", "x", "a\\b.bvh", "x" * 200 + ".bvh"]
)
def test_dropped_files_have_plain_names(name: str) -> None:
    with pytest.raises(BadValue):
        checked_name(name)


def test_a_dropped_clip_becomes_a_motion_with_its_own_skeleton(client: TestClient, tmp_path: Path) -> None:
    from counterpoise.character.library import character
    from counterpoise.motion import reference_motion

    reference_motion("squat", character("human")).slice(0.0, 0.6).write(tmp_path / "squat.bvh")
    data = (tmp_path / "squat.bvh").read_bytes()
    (tmp_path / "squat.bvh").unlink()
    with client.websocket_connect(f"/ws?token={TOKEN}", headers=OURS) as socket:
        for _ in range(7):
            socket.receive()
        answer = client.post(f"/files?name=squat.bvh&token={TOKEN}", content=data)
        assert answer.status_code == 200 and "squat.bvh" in answer.text
        assert (tmp_path / "squat.bvh").read_bytes() == data
        bad = client.post(f"/files?name=bad.bvh&token={TOKEN}", content=b"nonsense")
        assert bad.status_code == 400 and not (tmp_path / "bad.bvh").exists()
