// The guided start: eight steps, each beside what it is about, that go on by themselves once they are done.
import { button, byId, make } from "./dom.js";
import { changed, on, state } from "./store.js";

/** @typedef {{title: string, words: string, at: string, tab?: string, done?: () => boolean}} Step */

/** @type {Step[]} */
const STEPS = [
  { title: "Pose", words: "Drag an orange dot, such as a hand. Feet are pinned, balance is kept. Letting go writes a key.", at: "#stage", tab: "Pose", done: () => (state.scene?.keys.length ?? 0) >= 1 },
  { title: "A second key", words: "Click further right on the ruler of the timeline, then drag the pelvis down.", at: "#timeline", done: () => (state.scene?.keys.length ?? 0) >= 2 },
  { title: "Play", words: "Space plays, arrows step. Drag the diamonds to retime, right click them for more.", at: "#transport", done: () => state.playing },
  { title: "Undo", words: "Ctrl Z takes back every edit, one by one. Ctrl Shift Z makes it again.", at: "#undo" },
  { title: "Make it physical", words: "Check says what is wrong with a motion, by name and time. Optimise makes the motion of the keys possible, with a ghost of the best so far.", at: "#optimize", tab: "Physics", done: () => Boolean(state.scene?.verdict) },
  { title: "Live", words: "Press Live: the figure stands by itself. Pull it with the mouse, push it, throw a ball (T).", at: "#live", tab: "Live", done: () => Boolean(state.live?.running) },
  { title: "Bake", words: "Stop, then Bake keeps what happened as a new layer. Nothing is overwritten.", at: "#bake", tab: "Live", done: () => (state.scene?.motions.length ?? 0) > 1 },
  { title: "Take it away", words: "Save the scene, export BVH or GLB for Blender, or copy the Python of all you did. Examples to open are here, too.", at: "#save", tab: "Scene", done: () => Boolean(state.scene?.file) },
];

export class Tour {
  constructor() {
    this.step = -1;
    this.title = make("b", {});
    this.words = make("div", {});
    this.count = make("small", {});
    this.back = button("Back", "The step before", () => this.go(this.step - 1), { id: "tour_back" });
    this.next = button("Next", "The next step", () => this.go(this.step + 1), { id: "tour_next", className: "go" });
    this.card = make("div", { id: "tour", role: "dialog", "aria-label": "Guided start", hidden: true }, make("div", { className: "row" }, this.title, this.count), this.words,
      make("div", { className: "row" }, button("Close", "Leave the tour; ? opens it again", () => this.close(), { id: "tour_close" }), this.back, this.next));
    this.offer = make("div", { id: "tour_offer", hidden: Boolean(localStorage.getItem("toured")) }, "New here?", button("Five-minute tour", "A guided start, step by step", () => this.go(0), { id: "tour_start", className: "go" }), button("×", "No, thank you", () => this.close(), { className: "icon", "aria-label": "No tour" }));
    document.body.append(this.card);
    byId("stage").append(this.offer);
    for (const name of ["scene", "live", "time"]) on(name, () => this.check());
  }

  /** @param {number} step */
  go(step) {
    if (step >= STEPS.length) { this.close(); return; }
    this.step = Math.max(0, step);
    const { title, words, at, tab } = STEPS[this.step];
    if (tab) changed("tab", tab);
    this.offer.hidden = true;
    this.card.hidden = false;
    this.title.textContent = title;
    this.words.textContent = words;
    this.count.textContent = `${this.step + 1} of ${STEPS.length}`;
    this.back.disabled = this.step === 0;
    this.next.textContent = this.step + 1 === STEPS.length ? "Done" : "Next";
    this.was = STEPS[this.step].done?.() ?? false;
    document.querySelector(".tour_target")?.classList.remove("tour_target");
    const target = document.querySelector(at);
    target?.classList.add("tour_target");
    target?.scrollIntoView({ block: "nearest" });
    this.place(target);
  }

  /** Puts the card beside a part of the page. @param {Element | null} target */
  place(target) {
    const box = target?.getBoundingClientRect() ?? new DOMRect(40, 40, 0, 0), card = this.card.getBoundingClientRect(), large = box.width > innerWidth / 3;
    const x = large ? box.left + 24 : box.left - card.width - 12, y = large && box.height > 200 ? box.bottom - card.height - 24 : large ? box.top - card.height - 12 : box.top;
    this.card.style.left = `${Math.max(8, Math.min(x < 8 ? box.right + 12 : x, innerWidth - card.width - 8))}px`;
    this.card.style.top = `${Math.max(44, Math.min(y, innerHeight - card.height - 8))}px`;
  }

  /** Goes on when a person has done what the step is about. */
  check() {
    if (this.card.hidden || this.was || !STEPS[this.step].done?.()) return;
    const step = this.step;
    this.was = true;
    setTimeout(() => { if (!this.card.hidden && this.step === step) this.go(step + 1); }, 900);
  }

  close() {
    localStorage.setItem("toured", "yes");
    this.card.hidden = this.offer.hidden = true;
    document.querySelector(".tour_target")?.classList.remove("tour_target");
  }
}
