"""GLB in memory: the same bytes as the files, characters and scenes that another library reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pygltflib
import pytest

import counterpoise as cp

SCENES = Path(__file__).parents[2] / "examples" / "scenes"


def vertices(gltf: pygltflib.GLTF2, mesh: int) -> np.ndarray:
    """All points of a mesh (n, 3), y up, read by another library's tables."""
    out = []
    for primitive in gltf.meshes[mesh].primitives:
        accessor = gltf.accessors[primitive.attributes.POSITION]
        view = gltf.bufferViews[accessor.bufferView]
        data = gltf.binary_blob()[view.byteOffset : view.byteOffset + view.byteLength]
        out.append(np.frombuffer(data, "<f4").reshape(-1, 3))
    return np.concatenate(out)


def test_a_motion_has_the_bytes_of_its_file(tmp_path: Path):
    squat = cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.3)
    squat.write(tmp_path / "squat.glb")
    assert squat.to_glb() == (tmp_path / "squat.glb").read_bytes()


def test_a_character_can_be_read_back(tmp_path: Path):
    human = cp.character("human")
    (tmp_path / "human.glb").write_bytes(cp.character_glb(human))
    back = cp.read_motion(tmp_path / "human.glb", character=human)
    assert len(back) == 1
    gltf = pygltflib.GLTF2.load_from_bytes(cp.character_glb(human))
    assert {n.name for n in gltf.nodes} >= set(human.segments) and len(gltf.skins) == 1


@pytest.mark.parametrize("animated", [False, True])
def test_a_scene_joins_its_characters_and_its_terrain(animated: bool):
    text = (SCENES / "pushed.toml").read_text().replace("friction = 0.9", "")
    text += "[[box]]\ncenter = [1.0, 0.0]\nsize = [0.6, 1.0]\nheight = 0.2\n[[rough_ground]]\ncenter = [6.0, 0.0]\n"
    text += '[motions.bend]\ncharacter = "child"\nphysics = "none"\n[[motions.bend.key]]\ntime = 0.0\n'
    text += '[[motions.bend.key]]\ntime = 0.5\npose = "dip"\n'
    scene = cp.read_scene(text)
    motions = {"bend": scene.plain_motion("bend")} if animated else None
    gltf = pygltflib.GLTF2.load_from_bytes(scene.to_glb(motions))
    assert len(gltf.skins) == 2 and len(gltf.meshes) == 3 and len(gltf.scenes[0].nodes) == 5
    names = [n.name for n in gltf.nodes]
    assert len(set(names)) == len(names)
    for animation in gltf.animations:
        for channel in animation.channels:
            assert channel.target.node < len(gltf.nodes)
    frames = [gltf.accessors[a.samplers[0].input].count for a in gltf.animations]
    assert frames == ([1, 61] if animated else [1, 1])  # a motion that says no duration lasts 1 s at least
    box = vertices(gltf, 2)
    near = box[(np.abs(box[:, 0] - 1.0) < 0.31) & (np.abs(box[:, 2]) < 0.51)]
    assert near[:, 1].max() == pytest.approx(0.2) and box[:, 0].max() > 6.0
    small, tall = (vertices(gltf, k)[:, 1].max() for k in (1, 0))
    assert small < tall
