// The page of a large run: node tests.mjs large PAGE. It is small, it is drawn, and it says what it leaves
// out. How long it takes to open is measured by make bench: here it would be the machine's load.
import fs from "node:fs";
import process from "node:process";
import { check, main, visit } from "./browser.mjs";

const BYTES_MOST = 5e6;

const file = process.argv[2];

await main(async (browser) => {
  const { size } = fs.statSync(file);
  check(size <= BYTES_MOST, `the page has ${size} bytes, at most ${BYTES_MOST}`);
  const page = await visit(browser, file);
  check((await page.locator("body").innerText()).includes("of 100352 events"), "it says how much of the run it shows");
  check((await page.locator("svg.diagram a.event").count()) > 100, "and shows events");
  check(page.complaints.length === 0, "no errors", page.complaints.join("\n"));
});
