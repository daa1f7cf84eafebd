"""A scene: one document, edited as values, undone, run. What the hand did can be read as Python."""

from pathlib import Path

import counterpoise as cp

scene = cp.read_scene(Path(__file__).parent / "scenes" / "pushed.toml")
print(scene)

# edits change single lines of the file; everything can be undone
history = cp.SceneHistory(scene)
for edit in (
    cp.scene.SetSimulation({"seconds": 1.0}),
    cp.scene.SetLength("forearm_left", 0.32),
    cp.scene.SetPush(0, {"force": [120, 0, 0]}),
    cp.scene.RemovePush(1),
    cp.scene.SetTuning("com_stiffness", 5.0),
    cp.scene.AddNote("the push comes earlier here", 0.4),
):
    history = history.do(edit)
print(history.python())
edited = history.present
print(f"{len(edited.text.splitlines())} lines, {len(scene.text.splitlines())} before")

# a mistake is an error with its line, and changes nothing
try:
    history.do(cp.scene.SetTuning("com_stifness", 5.0))
except cp.CounterpoiseError as error:
    print("refused:", error)

# it runs: two people in one world
run = edited.run(".", progress=lambda progress: True)  # False would stop it and keep what was done
print(run.report())

cp.write_scene(edited, "edited.toml")
while history.past:
    history = history.undo()
assert history.present.text == scene.text
