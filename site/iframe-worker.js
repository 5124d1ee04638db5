/* The search of the site runs in a worker. Browsers start no worker for a page that was opened from a folder, so
   that there an empty frame runs it. Loaded before the theme's own script. */

class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    this.inside = new Promise((ready) => {
      frame.addEventListener("load", () => ready(this.start(frame.contentWindow, url)), { once: true });
    });
    document.documentElement.append(frame);
  }

  async start(inside, url) {
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    inside.importScripts = async (...urls) => {
      for (const each of urls) await this.load(inside, each);
    };
    await this.load(inside, url);
    return inside;
  }

  load(inside, url) {
    const script = inside.document.createElement("script");
    script.async = false;
    script.src = url;
    return new Promise((done, failed) => {
      script.addEventListener("load", done);
      script.addEventListener("error", () => failed(new Error(`${url} was not loaded`)));
      inside.document.head.append(script);
    });
  }

  async postMessage(data) {
    (await this.inside).dispatchEvent(new MessageEvent("message", { data }));
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
