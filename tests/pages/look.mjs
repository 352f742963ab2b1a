// What holds of every page: node tests.mjs look NAME PAGE TEXT...: it complains of nothing, is accessible
// in light and dark, and says each TEXT also without a script and without any style. The pictures
// are called NAME-*.png.
import fs from "node:fs";
import path from "node:path";
import os from "node:os";
import process from "node:process";
import { blank, check, go, lightAndDark, main, overlaps, picture, readAll, visit } from "./browser.mjs";

const [name, file, ...texts] = process.argv.slice(2);

async function looks(browser) {
  const page = await visit(browser, file);
  const over = (await Promise.all((await page.locator("svg").all()).map((svg) => svg.evaluate(overlaps)))).flat();
  check(over.length === 0, `${name}: no text of a picture lies over another`, over.join("\n"));
  await lightAndDark(page, name);
  await page.context().close();
}

// As a server shows an archived page that lets no script run.
async function readsWithoutScript(page) {
  await go(page, file);
  const content = await readAll(page);
  for (const text of texts)
    check(content.includes(text), `${name}: says "${text}" without a script`, content.slice(0, 400));
}

// As one that takes inline styles away besides: plain HTML and attributes of SVG are left.
async function readsWithoutStyle(page) {
  const stripped = fs
    .readFileSync(file, "utf8")
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<script>[\s\S]*?<\/script>/g, "")
    .replace(/ style="[^"]*"/g, "");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "faultline-pages-"));
  const plain = path.join(folder, "plain.html");
  fs.writeFileSync(plain, stripped);
  await go(page, plain);
  const content = await readAll(page);
  check(texts.every((text) => content.includes(text)), `${name}: the same without style`, content.slice(0, 400));
  const unpainted = await page.locator("svg :is(rect, circle, path, polyline, text)").evaluateAll((shapes) =>
    shapes.filter((shape) => !shape.closest("[fill]") && !shape.hasAttribute("stroke")).length);
  check(unpainted === 0, `${name}: every shape of a picture has its colour as an attribute`, `${unpainted} have none`);
  await picture(page, `${name}-plain`);
  fs.rmSync(folder, { recursive: true });
}

await main(async (browser) => {
  await looks(browser);
  const page = await blank(browser, { javaScriptEnabled: false });
  await readsWithoutScript(page);
  await readsWithoutStyle(page);
});
