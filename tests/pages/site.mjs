// The site of the documentation: node tests.mjs site FOLDER FIRST: from the page FIRST every page in FOLDER
// is reached over links, every link leads to a file there, every anchor is there, all without a
// script; no page complains, and each kind of page is accessible in light and dark.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { blank, check, go, lightAndDark, main, visit } from "./browser.mjs";

const [folder, first, ...kinds] = process.argv.slice(2);

// Of a page: its anchors and links, and what is said where none can be. As the browser resolves them.
async function read(page, file) {
  await go(page, file);
  return page.evaluate(() => ({
    anchors: [...document.querySelectorAll("[id]")].map((element) => element.id),
    links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
    words: document.body.innerText.length,
    styled: document.styleSheets.length,
  }));
}

// file -> what was read of it, of all that can be reached.
async function crawl(page) {
  const known = new Map();
  const open = [path.resolve(folder, first)];
  while (open.length > 0) {
    const file = open.pop();
    if (known.has(file) || !fs.existsSync(file)) continue;
    known.set(file, await read(page, file));
    for (const link of known.get(file).links)
      if (link.startsWith("file:")) open.push(fileURLToPath(link.replace(/[#?].*$/, "")));
  }
  return known;
}

// Why the link leads nowhere, or nothing.
function dead(link, known) {
  if (!link.startsWith("file:")) return /^https?:/.test(link) ? undefined : "another kind of address";
  const url = new URL(link);
  const target = known.get(fileURLToPath(pathToFileURL(fileURLToPath(link.replace(/[#?].*$/, "")))));
  if (target === undefined) return "no such page";
  const anchor = decodeURIComponent(url.hash.slice(1));
  return anchor === "" || target.anchors.includes(anchor) ? undefined : "no such anchor";
}

function pagesOf(where) {
  return fs.readdirSync(where, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(where, entry.name);
    return entry.isDirectory() ? pagesOf(file) : entry.name.endsWith(".html") ? [file] : [];
  });
}

await main(async (browser) => {
  const page = await blank(browser, { javaScriptEnabled: false });
  const known = await crawl(page);
  check(page.complaints.length === 0, "no page complains", page.complaints.join("\n"));
  const name = (file) => path.relative(folder, file);
  const wrong = [...known].flatMap(([file, { links }]) =>
    links.map((link) => [link, dead(link, known)]).filter(([, why]) => why).map(([link, why]) => `${name(file)}: ${link}: ${why}`));
  check(wrong.length === 0, `all links of ${known.size} pages lead somewhere`, wrong.join("\n"));
  const lost = pagesOf(path.resolve(folder)).filter((file) => !known.has(file));
  check(lost.length === 0, `every page is reached from ${first}`, lost.map(name).join("\n"));
  const bare = [...known].filter(([, { words, styled }]) => words < 200 || styled === 0);
  check(bare.length === 0, "every page has words and its style", bare.map(([file]) => name(file)).join("\n"));
  await page.context().close();
  for (const kind of kinds) {
    const seen = await visit(browser, path.join(folder, kind));
    await lightAndDark(seen, kind, `site-${kind.replace(/\W/g, "-")}`);
    await seen.context().close();
  }
});
