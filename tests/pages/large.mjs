// The page of a large run: node large.mjs PAGE. Its size, and the processor time that the browser
// needs until it is drawn: what a clock says would be the machine's load.
import fs from "node:fs";
import process from "node:process";
import { blank, check, go, main } from "./browser.mjs";

const BYTES_MOST = 5e6;
const SECONDS_MOST = 3;

const file = process.argv[2];

await main(async (browser) => {
  const { size } = fs.statSync(file);
  check(size <= BYTES_MOST, `the page has ${size} bytes, at most ${BYTES_MOST}`);
  const page = await blank(browser);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await go(page, file);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const { metrics } = await session.send("Performance.getMetrics");
  const seconds = metrics.find((metric) => metric.name === "ProcessTime").value;
  check(seconds > 0 && seconds <= SECONDS_MOST, `it opens in ${seconds.toFixed(2)} s of processor time, at most ${SECONDS_MOST}`);
  check((await page.locator("body").innerText()).includes("of 100352 events"), "it says how much of the run it shows");
  check(page.complaints.length === 0, "no errors", page.complaints.join("\n"));
});
