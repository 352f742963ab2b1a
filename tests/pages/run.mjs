// The page of a run that violated a claim: node tests.mjs run PAGE. What a reader needs first is in sight
// at 1280x800, and clicks and keys do what they say.
import process from "node:process";
import { becomes, check, main, visit } from "./browser.mjs";

const file = process.argv[2];

const isRowInSight = (page, id) => page.evaluate((target) => {
  const box = document.getElementById(target).getBoundingClientRect();
  return box.width > 0 && box.top >= -1 && box.bottom <= window.innerHeight + 1;
}, id);

const isInSight = (element) => {
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.top >= 0 && box.left >= 0 && box.bottom <= window.innerHeight && box.right <= window.innerWidth;
};

async function showsTheWitness(browser) {
  const page = await visit(browser, file);
  check(await page.locator("h1").evaluate(isInSight), "the verdict is in sight");
  const marks = page.locator("svg").first().locator("[data-letter]");
  const shown = await marks.evaluateAll((all) => all.map((mark) => {
    const box = mark.getBoundingClientRect();
    return box.bottom <= window.innerHeight && box.top >= 0 && box.right <= window.innerWidth && box.left >= 0;
  }));
  check(shown.length > 0 && shown.every(Boolean), "all of the witness is in sight without scrolling", JSON.stringify(shown));
  check(await page.locator("code.copy").first().evaluate(isInSight), "so is the command that repeats it");
  await page.context().close();
}

async function followsLinks(browser) {
  const page = await visit(browser, file);
  const link = page.locator("ol.why a.event").first();
  const target = await link.getAttribute("href");
  await link.click();
  await becomes(() => isRowInSight(page, target.slice(1)), true, "an event in the text leads to its row");
  const other = page.locator("tr td a.event").first();
  if ((await other.count()) > 0) {
    const end = await other.getAttribute("href");
    await other.click();
    await becomes(() => isRowInSight(page, end.slice(1)), true, "a message leads to its other end");
  }
  await page.context().close();
}

async function copies(browser) {
  const page = await visit(browser, file);
  const command = await page.locator("code.copy").first().innerText();
  await page.locator("code.copy + button").first().click();
  await becomes(() => page.locator("code.copy + button").first().innerText(), (text) => text !== "copy", "the button says that it was pressed");
  await becomes(() => page.evaluate(() => window.getSelection().toString()), command, "the command can be copied");
  await page.context().close();
}

await main(async (browser) => {
  await showsTheWitness(browser);
  await followsLinks(browser);
  await copies(browser);
});
