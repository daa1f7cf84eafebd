"""URDF files as robots come with them: packages of meshes, drawn shapes, frames, links without mass, odd inertias."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character.mesh_files import binary_stl, read_mesh
from counterpoise.errors import BadFile

INERTIAL = (
    '<inertial><origin xyz="{at}"/><mass value="{mass}"/>'
    '<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>'
)
TRUNK = INERTIAL.format(at="0 0 0.2", mass=10, i=0.2)
SHANK = INERTIAL.format(at="0 0 -0.2", mass=3, i=0.04)
FOOT = INERTIAL.format(at="0 0 0", mass=1, i=0.01)
BOX = '<{kind}><geometry><box size="0.24 0.1 0.04"/></geometry></{kind}>'
MESH = '<{kind}><geometry><mesh filename="{file}"/></geometry></{kind}>'


def hinge(name: str, parent: str, child: str, at: str = "0 0 0", axis: str = "0 1 0") -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/>'
        f'<axis xyz="{axis}"/><limit lower="-1" upper="1" effort="90" velocity="10"/></joint>'
    )


def fixed(name: str, parent: str, child: str, at: str = "0 0 0") -> str:
    links = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="fixed">{links}<origin xyz="{at}"/></joint>'


def biped(foot: str = BOX.format(kind="collision"), foot_inertial: str = FOOT, frames: bool = False) -> str:
    """A trunk on two legs; the hip has two hinges with a link of no mass between."""
    parts = [f'<link name="trunk">{TRUNK}</link>']
    for s, y in (("left", 0.12), ("right", -0.12)):
        parts += [
            f'<link name="{s}_between"/>',
            hinge(f"{s}_hip_roll", "trunk", f"{s}_between", f"0 {y} 0", "1 0 0"),
            f'<link name="{s}_leg">{SHANK}</link>',
            hinge(f"{s}_hip_pitch", f"{s}_between", f"{s}_leg"),
            f'<link name="{s}_block">{foot_inertial}{foot.replace("SIDE", s)}</link>'
            if frames
            else f'<link name="{s}_foot">{foot_inertial}{foot.replace("SIDE", s)}</link>',
            hinge(f"{s}_ankle_joint", f"{s}_leg", f"{s}_block" if frames else f"{s}_foot", "0.03 0 -0.45"),
        ]
        if frames:
            parts += [f'<link name="{s}_sole"/>', fixed(f"{s}_sole_joint", f"{s}_block", f"{s}_sole", "0 0 -0.02")]
    return f'<robot name="strange">{"".join(parts)}</robot>'


def block(half: tuple[float, float, float], top: float = 1.0) -> np.ndarray:
    """Triangles (12, 3, 3) of a box about the origin, its upper face longer or shorter by a factor."""
    x, y, z = half
    v = np.array([[a * x * (top if c > 0 else 1.0), b * y, c * z] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    faces = ["013", "032", "465", "675", "045", "051", "236", "376", "024", "642", "135", "375"]
    return np.array([v[[int(k) for k in f]] for f in faces])


def load(folder: Path, text: str, name: str = "robot.urdf") -> cp.Character:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return cp.load_character(path)


def as_text(corners: np.ndarray) -> str:
    faces = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(*(float(one) for one in p)) for p in f)
        + "endloop\nendfacet\n"
        for f in corners
    )
    return f"solid made\n{faces}endsolid made\n"


def as_collada(corners: np.ndarray) -> str:
    """The same shape in centimetres, y up, turned and moved by a node, its faces as a list of polygons."""
    turned = corners.reshape(-1, 3)[:, [0, 2, 1]] * [100.0, 100.0, -100.0]  # z up becomes y up
    local = turned - [5.0, 0.0, 0.0]
    numbers = " ".join(str(float(one)) for one in local.reshape(-1))
    n = len(local)
    p = " ".join(f"{k} 0" for k in range(n))
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.01" name="centimeter"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="a" count="{3 * n}">{numbers}</float_array>
<technique_common><accessor source="#a" count="{n}" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<polylist count="{n // 3}"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="NORMAL" source="#s" offset="1"/><vcount>{" ".join(["3"] * (n // 3))}</vcount><p>{p}</p>
</polylist></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="scene"><node><translate>5 0 0</translate><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#scene"/></scene></COLLADA>"""


def test_a_link_without_mass_between_two_hinges(tmp_path: Path):
    who = load(tmp_path, biped())
    assert who.nv == 6 + 6 and who.mass == pytest.approx(18.0, abs=0.01)
    rec = cp.simulate(who, cp.Stand(), seconds=2.0)
    assert not cp.measure.fell(rec).fell


@pytest.mark.parametrize("suffix", ["stl", "text.stl", "dae"])
def test_meshes_of_a_package_in_the_usual_formats(tmp_path: Path, suffix: str):
    """`package://` is looked for above the file; files of two folders may have one name."""
    package = tmp_path / "share" / "my_robot"
    shapes = {"left": block((0.12, 0.05, 0.02)), "right": block((0.12, 0.05, 0.02))}
    for side, corners in shapes.items():
        folder = package / "meshes" / side
        folder.mkdir(parents=True)
        name = f"part.{suffix.removeprefix('text.')}"
        if suffix == "stl":
            (folder / name).write_bytes(binary_stl(corners))
        else:
            (folder / name).write_text(as_collada(corners) if suffix == "dae" else as_text(corners))
    file = f"package://my_robot/meshes/SIDE/part.{suffix.removeprefix('text.')}"
    who = load(package / "urdf", biped(MESH.format(kind="collision", file=file)))
    boxes = load(tmp_path, biped(), "boxes.urdf")
    assert who.model.nmesh == 2
    ours = [np.array([p.position for p in foot.points]) for foot in who.feet]
    theirs = [np.array([p.position for p in foot.points]) for foot in boxes.feet]
    assert np.allclose(np.sort(ours, axis=1), np.sort(theirs, axis=1), atol=1e-4)
    assert who.mass == pytest.approx(boxes.mass)


def test_a_text_stl_and_collada_are_the_triangles_they_say(tmp_path: Path):
    corners = block((0.3, 0.2, 0.1), top=0.5)
    (tmp_path / "a.stl").write_text(as_text(corners))
    (tmp_path / "a.dae").write_text(as_collada(corners))
    for name in ("a.stl", "a.dae"):
        suffix, content = read_mesh(tmp_path / name)
        assert suffix == ".stl" and len(content) == 84 + 50 * len(corners)
        read = np.frombuffer(content, "<f4", offset=84 + 12, count=9).reshape(3, 3)
        assert np.allclose(read, corners[0], atol=1e-6)


def test_what_is_drawn_counts_where_nothing_collides(tmp_path: Path):
    who = load(tmp_path, biped(BOX.format(kind="visual")))
    assert [foot.body for foot in who.feet] == ["left_foot", "right_foot"]
    assert (who.model.geom_contype > 0).all() and who.mass == pytest.approx(18.0, abs=0.01)


def test_a_link_that_does_not_say_what_it_weighs_is_as_heavy_as_its_shapes(tmp_path: Path):
    (tmp_path / "foot.stl").write_bytes(binary_stl(block((0.12, 0.05, 0.02))))
    for shape in (BOX.format(kind="collision"), MESH.format(kind="collision", file="foot.stl")):
        who = load(tmp_path, biped(shape, foot_inertial=""))
        assert who.model.body("left_foot").mass[0] == pytest.approx(0.24 * 0.1 * 0.04 * 1000.0, rel=1e-4)


def test_a_moving_link_that_is_only_drawn_gets_a_gram_where_nothing_collides(tmp_path: Path):
    who = load(tmp_path, biped(BOX.format(kind="visual"), foot_inertial=""))
    assert who.model.body("left_foot").mass[0] == pytest.approx(1e-3)
    assert (who.model.geom_contype > 0).all()


def test_links_that_are_only_drawn_weigh_nothing_and_pass_through(tmp_path: Path):
    hat = '<link name="hat"><visual><geometry><box size="0.3 0.3 0.3"/></geometry></visual></link>'
    text = biped().replace("</robot>", hat + fixed("hat_joint", "trunk", "hat", "0 0 0.6") + "</robot>")
    who = load(tmp_path, text)
    of_hat = who.model.geom_bodyid == who.model.body("hat").id
    assert of_hat.sum() == 1 and who.model.geom_contype[of_hat].sum() == 0
    assert who.mass == pytest.approx(18.0, abs=0.01)


def test_a_sole_that_is_only_a_frame_is_no_foot_but_what_carries_it_is(tmp_path: Path):
    who = load(tmp_path, biped(frames=True))
    assert [foot.body for foot in who.feet] == ["left_block", "right_block"]
    rec = cp.simulate(who, cp.Stand(), seconds=1.0)
    assert not cp.measure.fell(rec).fell
    told = cp.load_character(tmp_path / "robot.urdf", feet=["left_sole", "right_sole"])  # a person may name the frames
    assert not cp.measure.fell(cp.simulate(told, cp.Stand(), seconds=0.5)).fell


def test_inertias_that_no_body_has_become_the_nearest_that_one_can_have(tmp_path: Path):
    odd = FOOT.replace('izz="0.01"', 'izz="0.05"')
    with pytest.warns(UserWarning, match=r"inertia of 2 of its links \(left_foot, right_foot\)"):
        who = load(tmp_path, biped(foot_inertial=odd))
    least, middle, most = np.sort(who.model.body("left_foot").inertia)
    assert least == pytest.approx(0.01) and most == pytest.approx(0.05) and middle <= 0.0401
    assert least + middle >= most
    negative = FOOT.replace('ixx="0.01"', 'ixx="-0.01"')
    with pytest.warns(UserWarning, match="the nearest"):
        who = load(tmp_path, biped(foot_inertial=negative))
    assert (who.model.body("left_foot").inertia > 0.0).all()


def test_shapes_whose_files_are_missing_are_left_out_aloud_and_all_of_them_is_an_error(tmp_path: Path):
    lost = MESH.format(kind="visual", file="package://elsewhere/trunk.stl")
    text = biped().replace(f'<link name="trunk">{TRUNK}', f'<link name="trunk">{TRUNK}{lost}')
    with pytest.raises(BadFile, match=r"trunk\.stl' is missing"):
        load(tmp_path, text)
    (tmp_path / "leg.stl").write_bytes(binary_stl(block((0.05, 0.05, 0.2))))
    leg = MESH.format(kind="collision", file="leg.stl")
    text = text.replace(f'<link name="left_leg">{SHANK}', f'<link name="left_leg">{SHANK}{leg}')
    with pytest.warns(UserWarning, match=r"without some of its shapes.*trunk\.stl' is missing"):
        who = load(tmp_path, text)
    assert len(who.feet) == 2


@pytest.mark.parametrize("content", [b"", b"solid", b"<COLLADA/>", b"\xff" * 200, b"vertex 1 2", b"<a><b></a>"])
@pytest.mark.parametrize("suffix", ["stl", "dae", "ply"])
def test_meshes_that_are_none_are_refused_in_one_line(tmp_path: Path, content: bytes, suffix: str):
    (tmp_path / f"foot.{suffix}").write_bytes(content)
    with pytest.raises(BadFile) as caught:
        load(tmp_path, biped(MESH.format(kind="collision", file=f"foot.{suffix}")))
    assert "\n" not in str(caught.value) and f"foot.{suffix}" in str(caught.value)


@pytest.mark.parametrize("gone", ['semantic="POSITION"', 'semantic="VERTEX"', 'source="#v"', 'id="s"'])
def test_a_collada_file_with_a_part_missing_is_refused(tmp_path: Path, gone: str):
    text = as_collada(block((0.1, 0.1, 0.1)))
    assert gone in text
    (tmp_path / "foot.dae").write_text(text.replace(gone, "", 1))
    with pytest.raises(BadFile, match="cannot be read"):
        load(tmp_path, biped(MESH.format(kind="collision", file="foot.dae")))


def test_a_scene_that_refers_to_itself_ends(tmp_path: Path):
    text = as_collada(block((0.1, 0.1, 0.1)))
    text = text.replace("<node>", '<node id="again"><instance_node url="#again"/>')
    (tmp_path / "foot.dae").write_text(text)
    with pytest.raises(BadFile, match="refers to itself"):
        load(tmp_path, biped(MESH.format(kind="collision", file="foot.dae")))


def test_hinges_get_the_rotors_that_a_urdf_leaves_out(tmp_path: Path):
    who = load(tmp_path, biped())
    assert np.allclose(who.model.dof_armature[6:], 0.01 * (who.mass / 70.0) ** (5.0 / 3.0), rtol=1e-3)


def test_a_figure_that_lies_in_its_file_stands(tmp_path: Path):
    """Figures of other programs have y up."""
    text = biped()
    parts = {"0 0 0.2": "0 0.2 0", "0 0 -0.2": "0 -0.2 0", "0.03 0 -0.45": "0.03 -0.45 0"}
    for was, now in parts.items():
        text = text.replace(f'xyz="{was}"', f'xyz="{now}"')
    text = text.replace('xyz="0 0.12 0"', 'xyz="0 0 -0.12"').replace('xyz="0 -0.12 0"', 'xyz="0 0 0.12"')
    text = text.replace('size="0.24 0.1 0.04"', 'size="0.24 0.04 0.1"').replace('xyz="0 1 0"', 'xyz="0 0 -1"')
    who = load(tmp_path, text)
    assert "stood upright" in " ".join(who.roles.guessed)
    s = who.snapshot()
    assert np.abs(s.contact_position[:, 2]).max() < 1e-3 and s.com[2] > 0.3
    left, right = (s.position(foot.body) for foot in who.feet)
    assert left[1] > right[1]
    assert not cp.measure.fell(cp.simulate(who, cp.Stand(), seconds=1.0)).fell


def test_the_box_inside_a_tapered_mesh_stays_above_the_sole(tmp_path: Path):
    corners = block((0.12, 0.05, 0.04))
    corners[..., 2] = np.where((corners[..., 2] > 0) & (corners[..., 0] > 0), -0.02, corners[..., 2])  # a low tip
    (tmp_path / "foot.stl").write_bytes(binary_stl(corners))
    who = load(tmp_path, biped(MESH.format(kind="collision", file="foot.stl")))
    s = who.snapshot()
    assert np.abs(s.contact_position[:, 2]).max() < 1e-3
    rec = cp.simulate(who, cp.Stand(), seconds=1.0)
    last = rec.contacts.at(len(rec.time) - 2)
    assert len(rec.contacts.force[last]) >= 6  # all corners of both feet carry, not the box between them
    assert not cp.measure.fell(rec).fell


def test_a_body_without_shapes_says_so(tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        who = load(tmp_path, biped(foot=""))
    with pytest.raises(cp.errors.MissingRole, match="its links have no shapes"):
        cp.simulate(who, cp.Stand(), seconds=0.1)


def test_a_body_that_is_fixed_to_the_world_says_how_it_is_set_free(tmp_path: Path):
    load(tmp_path, biped())
    who = cp.load_character(tmp_path / "robot.urdf", floating=False)
    with pytest.raises(cp.errors.BadValue, match="floating=True"):
        cp.simulate(who, cp.Stand(), seconds=0.1)
