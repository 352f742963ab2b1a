// The page of a run that violated a claim: node run.mjs PAGE. What a reader needs first is in sight
// at 1280x800, and clicks and keys do what they say.
import process from "node:process";
import { check, main, visit } from "./browser.mjs";

const file = process.argv[2];

// A browser scrolls when it comes to it; the limit is only there for one that never does.
async function comesInSight(page, id) {
  const seen = await page
    .waitForFunction(
      (target) => {
        const box = document.getElementById(target).getBoundingClientRect();
        return box.width > 0 && box.top >= -1 && box.bottom <= window.innerHeight + 1;
      },
      id,
      { timeout: 20000 },
    )
    .catch(() => null);
  return seen !== null;
}

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
  check(await comesInSight(page, target.slice(1)), "an event in the text leads to its row");
  const other = page.locator("tr td a.event").first();
  if ((await other.count()) > 0) {
    const end = await other.getAttribute("href");
    await other.click();
    check(await comesInSight(page, end.slice(1)), "a message leads to its other end");
  }
  await page.context().close();
}

async function copies(browser) {
  const page = await visit(browser, file);
  const command = await page.locator("code.copy").first().innerText();
  await page.locator("code.copy + button").first().click();
  await page.waitForFunction(() => document.querySelector("code.copy + button").textContent !== "copy");
  const chosen = await page.evaluate(() => window.getSelection().toString());
  check(chosen === command, "the command can be copied", chosen);
  await page.context().close();
}

await main(async (browser) => {
  await showsTheWitness(browser);
  await followsLinks(browser);
  await copies(browser);
});
