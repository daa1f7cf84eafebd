// Files that are dropped on the page go to the server, which opens them.
import { address } from "./connection.js";
import { byId, toast } from "./dom.js";

/** Listens for files. */
export function takeDrops() {
  addEventListener("dragover", event => { event.preventDefault(); byId("drop_hint").hidden = false; });
  addEventListener("dragleave", event => { if (!event.relatedTarget) byId("drop_hint").hidden = true; });
  addEventListener("drop", async event => {
    event.preventDefault();
    byId("drop_hint").hidden = true;
    for (const file of event.dataTransfer?.files ?? []) {
      const answer = await fetch(address(`/files?name=${encodeURIComponent(file.name)}`), { method: "POST", body: file });
      toast((await answer.text()).trim(), !answer.ok);
    }
  });
}
