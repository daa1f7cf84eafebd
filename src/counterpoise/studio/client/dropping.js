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
    const given = [...(event.dataTransfer?.items ?? [])], folders = given.map(item => item.webkitGetAsEntry?.()).filter(entry => entry?.isDirectory).map(entry => entry?.name);
    for (const name of folders) toast(`${name} is a folder: copy it into the folder of the studio, and open its files in the tab Scene.`, true);
    for (const file of [...(event.dataTransfer?.files ?? [])].filter(one => !folders.includes(one.name))) {
      try {
        const answer = await fetch(address(`/files?name=${encodeURIComponent(file.name)}`), { method: "POST", body: file });
        toast((await answer.text()).trim(), !answer.ok);
      } catch { toast(`${file.name} could not be sent: look whether the studio still runs, and whether the file can be read.`, true); }
    }
  });
}
