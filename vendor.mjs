// Writes the libraries that the annotators' pages import into a folder, each as one module under its licence.
import { build } from "esbuild";
import { readFileSync } from "node:fs";

const FOLDER = process.argv[2] ?? "src/adjudge/web/static/vendor";
const ENTRIES = { diff: "libesm/diff/array.js", idb: "build/index.js" };

for (const [name, entry] of Object.entries(ENTRIES)) {
  const place = `node_modules/${name}/`;
  const { version } = JSON.parse(readFileSync(`${place}package.json`, "utf-8"));
  const license = readFileSync(`${place}LICENSE`, "utf-8").trim();
  await build({
    entryPoints: [place + entry],
    outfile: `${FOLDER}/${name}.js`,
    bundle: true,
    format: "esm",
    charset: "utf8",
    banner: { js: `/*! ${name} ${version}\n\n${license}\n*/` },
  });
}
