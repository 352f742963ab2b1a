// What holds of every page: node look.mjs NAME PAGE TEXT...: it complains of nothing, is accessible
// in light and dark, and says each TEXT also without a script and without any style. The pictures
// are called NAME-*.png.
import fs from "node:fs";
import path from "node:path";
import os from "node:os";
import process from "node:process";
import { check, main, overlaps, picture, readAll, violations, visit } from "./browser.mjs";

const [name, file, ...texts] = process.argv.slice(2);

async function looks(browser) {
  for (const colorScheme of ["light", "dark"]) {
    const page = await visit(browser, file, { colorScheme });
    check(page.complaints.length === 0, `${name}: no errors, ${colorScheme}`, page.complaints.join("\n"));
    const over = (await Promise.all((await page.locator("svg").all()).map((svg) => svg.evaluate(overlaps)))).flat();
    check(over.length === 0, `${name}: no text of a picture lies over another, ${colorScheme}`, over.join("\n"));
    await picture(page, `${name}-${colorScheme}`);
    await page.context().close();
    const found = await violations(browser, file, { colorScheme });
    check(found.length === 0, `${name}: accessible, ${colorScheme}`, found.join("\n"));
  }
}

// As a server shows an archived page that lets no script run.
async function readsWithoutScript(browser) {
  const page = await visit(browser, file, { javaScriptEnabled: false });
  const content = await readAll(page);
  for (const text of texts)
    check(content.includes(text), `${name}: says "${text}" without a script`, content.slice(0, 400));
  await page.context().close();
}

// As one that takes inline styles away besides: plain HTML and attributes of SVG are left.
async function readsWithoutStyle(browser) {
  const stripped = fs
    .readFileSync(file, "utf8")
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<script>[\s\S]*?<\/script>/g, "")
    .replace(/ style="[^"]*"/g, "");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "faultline-pages-"));
  const plain = path.join(folder, "plain.html");
  fs.writeFileSync(plain, stripped);
  const page = await visit(browser, plain, { javaScriptEnabled: false });
  const content = await readAll(page);
  check(texts.every((text) => content.includes(text)), `${name}: the same without style`, content.slice(0, 400));
  const unpainted = await page.locator("svg :is(rect, circle, path, polyline, text)").evaluateAll((shapes) =>
    shapes.filter((shape) => !shape.closest("[fill]") && !shape.hasAttribute("stroke")).length);
  check(unpainted === 0, `${name}: every shape of a picture has its colour as an attribute`, `${unpainted} have none`);
  await picture(page, `${name}-plain`);
  await page.context().close();
  fs.rmSync(folder, { recursive: true });
}

await main(async (browser) => {
  await looks(browser);
  await readsWithoutScript(browser);
  await readsWithoutStyle(browser);
});
