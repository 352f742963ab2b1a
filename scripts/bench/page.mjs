// How long a page takes to open: node page.mjs PAGE [TIMES]. Prints the median of the seconds from
// asking for the file to its second frame drawn, each time in a fresh browser context, and the
// processor seconds of the page's process. The browser is that of the tests.
import process from "node:process";
import { blank, drawn, go, open } from "../../tests/pages/browser.mjs";

const [file, times = "5"] = process.argv.slice(2);

async function once(browser) {
  const page = await blank(browser);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = process.hrtime.bigint();
  await go(page, file);
  await drawn(page);
  const wall = Number(process.hrtime.bigint() - before) / 1e9;
  const { metrics } = await session.send("Performance.getMetrics");
  await page.context().close();
  return { wall, processor: metrics.find((metric) => metric.name === "ProcessTime").value };
}

const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

const browser = await open();
const all = [];
for (let i = 0; i < Number(times); i++) all.push(await once(browser));
await browser.close();
const seconds = (what) => median(all.map((one) => one[what])).toFixed(3);
console.log(seconds("wall"), seconds("processor"));
