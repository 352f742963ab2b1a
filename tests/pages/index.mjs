// The page of an output folder: node tests.mjs index PAGE. Its links lead to runs, by mouse and keyboard,
// and its pictures say in words what they show.
import process from "node:process";
import { becomes, check, main, visit } from "./browser.mjs";

const file = process.argv[2];

async function leadsToRuns(browser) {
  const page = await visit(browser, file);
  await page.locator("ol.groups a[href$='report.html']").first().click();
  await becomes(() => page.url(), (url) => url.endsWith("/report.html"), "a run that did not pass leads to its page");
  await page.waitForLoadState();
  check((await page.locator("h1").innerText()).includes("violation"), "which says its verdict");
  await page.context().close();
}

async function isUsedByKeyboard(browser) {
  const page = await visit(browser, file);
  await page.keyboard.press("Tab");
  await becomes(() => page.evaluate(() => document.activeElement.tagName), "A", "the keyboard comes to the links");
  await page.context().close();
}

async function saysWhatItShows(browser) {
  const page = await visit(browser, file);
  const label = await page.locator("figure.matrix svg").first().getAttribute("aria-label");
  check(/sent beyond, delivered before forbidden/.test(label), "a matrix says its cells", label);
  check(/sent before, delivered logging \d+ times/.test(label), "and how often they were seen", label);
  const bars = await page.locator("svg[aria-label^='A bar'] g").count();
  check(bars >= 2, "the trend has a bar for each set of runs", `${bars}`);
  const rows = await page.locator("h2#trend ~ div tbody tr").count();
  check(rows === 2, "and a row of a table", `${rows}`);
  await page.context().close();
}

await main(async (browser) => {
  await leadsToRuns(browser);
  await isUsedByKeyboard(browser);
  await saysWhatItShows(browser);
});
