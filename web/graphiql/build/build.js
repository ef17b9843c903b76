// Writes ../graphiql.js, ../graphiql.css and ../LICENSES.txt. The same
// package-lock.json gives the same files.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";

const result = await esbuild.build({
  entryPoints: { graphiql: "main.js" },
  outdir: "..",
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none", // all of them are in LICENSES.txt
  metafile: true,
});

// The style sheet carries fonts; those of the system do, too.
const css = readFileSync("../graphiql.css", "utf8");
writeFileSync("../graphiql.css", css.replaceAll(/@font-face\{[^}]*\}/g, ""));

// Packages that name a licence of theirs but don't carry its text.
const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

function named(about) {
  if (about.license !== "MIT") throw new Error(`${about.name} has the licence ${about.license} and no text of it`);
  const author = (about.author?.name ?? about.author ?? `the authors of ${about.name}`).replace(/ *<.*/, "");
  return `MIT License\n\nCopyright (c) ${author}\n\n${mit}`;
}

// Every package of which something is in the bundle, with its licence.
const packages = new Map();
for (const input of Object.keys(result.metafile.inputs)) {
  const dir = input.match(/^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0];
  if (!dir || packages.has(dir)) continue;
  const about = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  const file = readdirSync(dir).find((name) => /^(licen[sc]e|copying)/i.test(name));
  const text = file ? readFileSync(join(dir, file), "utf8").trim() : named(about);
  packages.set(dir, `${about.name} ${about.version}\n\n${text}\n`);
}
const rule = `\n${"-".repeat(72)}\n\n`;
const texts = [...new Set(packages.values())].sort();
writeFileSync("../LICENSES.txt", "graphiql.js and graphiql.css contain the following packages.\n" + rule + texts.join(rule));
