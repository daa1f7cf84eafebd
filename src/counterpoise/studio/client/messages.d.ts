// Generated from studio/commands.py and studio/events.py by studio/typescript.py. Do not edit.

export type AddPoseKey = {
  type: "add_pose_key";
  time: number;
};

export type MirrorPose = {
  type: "mirror_pose";
  time: number;
};

export type ResetPose = {
  type: "reset_pose";
  time: number;
};

export type SavePoseAs = {
  type: "save_pose_as";
  time: number;
  name: string;
};

export type ApplyPose = {
  type: "apply_pose";
  time: number;
  name: string;
};

export type SetJoint = {
  type: "set_joint";
  time: number;
  joint: string;
  values: Array<number>;
  done?: boolean;
};

export type ShowCharacter = {
  type: "show_character";
  name: string;
};

export type ShowMotion = {
  type: "show_motion";
  name: string;
};

export type TakeConstraints = {
  type: "take_constraints";
  name: string;
};

export type KeepConstraints = {
  type: "keep_constraints";
  name: string;
};

export type KeepFigure = {
  type: "keep_figure";
  name: string;
};

export type OpenStarter = {
  type: "open_starter";
  name: string;
};

export type OpenFile = {
  type: "open_file";
  name: string;
};

export type SaveScene = {
  type: "save_scene";
  name: string;
};

export type DragBody = {
  type: "drag_body";
  seq: number;
  body: string;
  target: [number, number, number];
  time?: number;
  point?: [number, number, number];
  turn?: [number, number, number, number] | null;
  figure?: number;
};

export type ReleaseBody = {
  type: "release_body";
  keep?: boolean;
};

export type PinBody = {
  type: "pin_body";
  body: string;
  hold: "none" | "place" | "whole";
};

export type SetGoal = {
  type: "set_goal";
  body: string;
  kind: "none" | "reach" | "aim";
  place?: [number, number, number];
};

export type AddPath = {
  type: "add_path";
  body: string;
  samples: Array<[number, number, number, number]>;
  point?: [number, number, number];
};

export type RemovePath = {
  type: "remove_path";
  body: string;
};

export type SetRules = {
  type: "set_rules";
  balanced: boolean;
  above_ground: boolean;
};

export type LookAt = {
  type: "look_at";
  time?: number;
};

export type StartLive = {
  type: "start_live";
  controller: string;
  time?: number;
};

export type StopLive = {
  type: "stop_live";
};

export type PullProp = {
  type: "pull_prop";
  prop: number;
  target: [number, number, number];
  point?: [number, number, number];
};

export type PushBody = {
  type: "push_body";
  body: string;
  force: [number, number, number];
  duration?: number;
  figure?: number;
};

export type ThrowProp = {
  type: "throw_prop";
  place: [number, number, number];
  target: [number, number, number];
  shape?: "ball" | "box";
  size?: number;
  mass?: number;
  speed?: number;
  bounce?: number;
};

export type ClearThrown = {
  type: "clear_thrown";
};

export type ActLive = {
  type: "act_live";
};

export type WalkTo = {
  type: "walk_to";
  x: number;
  y: number;
};

export type SteerLive = {
  type: "steer_live";
  forward?: number;
  turn?: number;
  run?: boolean;
};

export type TuneLive = {
  type: "tune_live";
  table: string;
  name: string;
  value: number | null;
};

export type ChooseLive = {
  type: "choose_live";
  name: string;
  value: string;
  table?: string;
};

export type SetLive = {
  type: "set_live";
  speed?: number;
  paused?: boolean;
  roll?: number;
  pitch?: number;
};

export type BakeLive = {
  type: "bake_live";
  keys?: number;
  start?: number;
  end?: number;
  joints?: Array<string>;
};

export type EditScene = {
  type: "edit_scene";
  edit: string;
  values: Record<string, unknown>;
};

export type UndoEdit = {
  type: "undo_edit";
};

export type RedoEdit = {
  type: "redo_edit";
};

export type SetCurve = {
  type: "set_curve";
  key: number;
  name: string;
  value: number;
  done?: boolean;
};

export type LayMotion = {
  type: "lay_motion";
  over: string;
  joints?: Array<string>;
  start?: number;
  end?: number;
  blend?: number;
};

export type StartJob = {
  type: "start_job";
  kind: "optimize" | "check" | "fix" | "play" | "animate";
};

export type StopJob = {
  type: "stop_job";
  job: number;
};

export type NewScene = {
  type: "new_scene";
  figure?: string;
};

export type ListFiles = {
  type: "list_files";
};

export type ControllerFacts = {
  name: string;
  meaning: string;
};

export type StudioReady = {
  type: "studio_ready";
  version: string;
  folder: string;
  figures: Array<string>;
  starters: Array<string>;
  controllers: Array<ControllerFacts>;
};

export type GoalFacts = {
  body: string;
  kind: string;
  place: [number, number, number];
};

export type PathFacts = {
  body: string;
  duration: number;
  places: Array<[number, number, number]>;
  knots: Array<[number, number, number]>;
};

export type RulesChanged = {
  type: "rules_changed";
  pins: Record<string, string>;
  balanced: boolean;
  above_ground: boolean;
  goals: Array<GoalFacts>;
  paths: Array<PathFacts>;
};

export type Slider = {
  table: string;
  name: string;
  value: number | boolean | string | null;
  unit: string;
  meaning: string;
  low: number;
  high: number;
  choices: Array<string>;
};

export type PropFacts = {
  shape: string;
  size: [number, number, number];
  mass: number;
  place: [number, number, number];
  turn: [number, number, number, number];
  bounce: number;
};

export type LiveBody = {
  mesh: string;
  smooth: string;
  weight: number;
};

export type LiveChanged = {
  type: "live_changed";
  running: boolean;
  controller: string;
  speed: number;
  paused: boolean;
  tilt: [number, number];
  recorded: number;
  sliders: Array<Slider>;
  props: Array<PropFacts>;
  thrown: number;
  acts: string;
  stage: string;
  bodies: Array<LiveBody>;
};

export type Trouble = {
  type: "trouble";
  message: string;
};

export type Notice = {
  type: "notice";
  message: string;
};

export type BodyFacts = {
  name: string;
  parent: number;
  mass: number;
  length: number;
  role: string;
};

export type GripFacts = {
  side: string;
  angle: number;
  place: Array<number>;
  axis: Array<number>;
};

export type LimitFacts = {
  outline: Array<[number, number, number]>;
  middle: Array<number>;
  grips: Array<GripFacts>;
};

export type JointFacts = {
  name: string;
  kind: string;
  body: string;
  low: Array<number>;
  high: Array<number>;
  limits: LimitFacts;
};

export type FigureFacts = {
  name: string;
  mesh: string;
  smooth: string;
  mass: number;
  weight: number;
  height: number;
  bodies: Array<BodyFacts>;
  joints: Array<JointFacts>;
};

export type CastFacts = {
  name: string;
  figure: FigureFacts;
  track: string;
};

export type MotionFacts = {
  name: string;
  label: string;
  owner: string;
  kind: string;
};

export type KeyFacts = {
  index: number;
  time: number;
  name: string;
  soft: boolean;
  rest: boolean;
};

export type ContactFacts = {
  index: number;
  parts: Array<string>;
  start: number;
  end: number;
  how: string;
};

export type WishFacts = {
  index: number;
  words: string;
  time: number | null;
};

export type Mark = {
  name: string;
  words: string;
  time: number;
  start: number;
  end: number;
  grave: boolean;
};

export type PushFacts = {
  index: number;
  words: string;
  start: number;
  end: number;
};

export type CameraFacts = {
  name: string;
  eye: [number, number, number];
  target: [number, number, number];
};

export type NoteFacts = {
  index: number;
  text: string;
  time: number | null;
};

export type ConstraintFacts = {
  index: number;
  kind: string;
  words: string;
  body: string;
  joint: string;
};

export type SolidFacts = {
  centre: [number, number, number];
  half: [number, number, number];
  turn: [number, number, number, number];
};

export type FieldFacts = {
  centre: [number, number];
  size: [number, number];
  rows: number;
  columns: number;
  heights: string;
};

export type TerrainFacts = {
  kind: string;
  index: number;
  words: string;
};

export type SceneChanged = {
  type: "scene_changed";
  revision: number;
  name: string;
  file: string;
  unsaved: boolean;
  source: string;
  figure: FigureFacts;
  cast: Array<CastFacts>;
  characters: Array<string>;
  motion: string;
  owner: string;
  kind: string;
  motions: Array<MotionFacts>;
  duration: number;
  refined: boolean;
  keys: Array<KeyFacts>;
  contacts: Array<ContactFacts>;
  wishes: Array<WishFacts>;
  violations: Array<Mark>;
  verdict: string;
  poses: Array<string>;
  has_controllers: boolean;
  controller: string;
  pushes: Array<PushFacts>;
  cameras: Array<CameraFacts>;
  notes: Array<NoteFacts>;
  constraints: Array<ConstraintFacts>;
  constraint_sets: Array<string>;
  solids: Array<SolidFacts>;
  fields: Array<FieldFacts>;
  terrain: Array<TerrainFacts>;
  friction: number;
  props: Array<PropFacts>;
  tilt: [number, number];
  track: string;
  prop_track: string;
  efforts: string;
  track_props: Array<PropFacts>;
  undo: string;
  redo: string;
  script: string;
};

export type JointValues = {
  type: "joint_values";
  values: Record<string, Array<number>>;
};

export type JobChanged = {
  type: "job_changed";
  job: number;
  kind: string;
  state: string;
  stage: string;
  share: number;
  message: string;
};

export type FilesListed = {
  type: "files_listed";
  names: Array<string>;
};

export type Command = AddPoseKey | MirrorPose | ResetPose | SavePoseAs | ApplyPose | SetJoint | ShowCharacter | ShowMotion | TakeConstraints | KeepConstraints | KeepFigure | OpenStarter | OpenFile | SaveScene | DragBody | ReleaseBody | PinBody | SetGoal | AddPath | RemovePath | SetRules | LookAt | StartLive | StopLive | PullProp | PushBody | ThrowProp | ClearThrown | ActLive | WalkTo | SteerLive | TuneLive | ChooseLive | SetLive | BakeLive | EditScene | UndoEdit | RedoEdit | SetCurve | LayMotion | StartJob | StopJob | NewScene | ListFiles;
export type Event = StudioReady | RulesChanged | LiveChanged | Trouble | Notice | SceneChanged | JointValues | JobChanged | FilesListed;
