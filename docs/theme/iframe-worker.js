// Search runs in a worker, which browsers refuse to a page that was opened from the disk. There it runs in a hidden frame.
(() => {
  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    #waiting = [];
    #inside = null;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title>search</title><body></body>";
      frame.onload = () => this.#start(frame.contentWindow, url);
      document.body.append(frame);
    }

    postMessage(data) {
      if (this.#inside === null) this.#waiting.push(data);
      else this.#inside.dispatchEvent(new this.#inside.MessageEvent("message", { data }));
    }

    async #start(inside, url) {
      const load = (source) =>
        new Promise((loaded, failed) => {
          const script = inside.document.createElement("script");
          script.src = source;
          script.onload = loaded;
          script.onerror = failed;
          inside.document.body.append(script);
        });
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...sources) => {
        for (const source of sources) await load(source);
      };
      await load(url);
      this.#inside = inside;
      for (const data of this.#waiting.splice(0)) this.postMessage(data);
    }
  }

  window.IFrameWorker = IFrameWorker; // the search script asks for this name, to find its languages beside itself
  window.Worker = IFrameWorker;
})();
