// @ts-check
/* Shows how a run goes on: asks for the page again, and puts what it says now in place of what it said. */

const PAUSE = 2000; // milliseconds

/** Parsed by the browser as a document in which no script runs. */
function look() {
  const request = new XMLHttpRequest();
  request.open("GET", location.pathname);
  request.responseType = "document";
  request.addEventListener("loadend", () => {
    const page = request.responseXML;
    const words = document.getElementById("watch");
    if (page && !page.getElementById("progress")) {
      location.reload(); // the run has ended, and this is its report
      return;
    }
    if (page) {
      document.getElementById("progress")?.replaceWith(document.importNode(/** @type {Node} */ (page.getElementById("progress")), true));
      document.title = page.title;
    } else if (words) {
      words.textContent = "The server does not answer any more. Start adjudge serve again.";
    }
    setTimeout(look, PAUSE);
  });
  request.send();
}

setTimeout(look, PAUSE);
