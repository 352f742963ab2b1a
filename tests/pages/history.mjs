// How a campaign went: node tests.mjs history PAGE. What the picture shows stands in its tables.
import process from "node:process";
import { check, main, visit } from "./browser.mjs";

const file = process.argv[2];

const sum = (numbers) => numbers.reduce((all, one) => all + Number(one), 0);

await main(async (browser) => {
  const page = await visit(browser, file);
  const svg = page.locator("h2#history ~ div svg").first();
  const titles = await svg.locator("g title").evaluateAll((all) => all.map((one) => one.textContent));
  const runs = (end) => sum(titles.filter((title) => title.endsWith(` ${end}`)).map((title) => title.split(": ")[1].split(" ")[0]));
  check(runs("pass") === 27, "every run that passed is in a bar", titles.join("\n"));
  check(runs("violation") === 3 && runs("undecided") === 1, "and every one that did not");
  const cells = titles.filter((title) => title.startsWith("C.late.replay other recovery: "));
  check(cells.length === 2 && sum(cells.map((title) => title.split(": ")[1])) === 3, "a kind of failure has its runs, where they were", cells.join("\n"));
  const kind = await page.locator("tr", { has: page.locator("th", { hasText: /^C\.late\.replay other recovery$/ }) }).innerText();
  check(/\b3\s+14\.3\s+7\s+22\.3\b/.test(kind), "and in the table how many, when first and in which run, when last", kind);
  await page.locator("summary", { hasText: "The numbers by time" }).click();
  const columns = await page.locator("h2#history ~ details tbody tr").evaluateAll((rows) =>
    rows.map((row) => [...row.cells].slice(1).map((cell) => Number(cell.textContent))));
  check(columns.length === 24, "there is a row for each interval", `${columns.length}`);
  check(sum(columns.map((row) => row[0])) === 31, "all runs are in the rows");
  check(sum(columns.map((row) => row[5])) === 2, "two kinds of failure came");
  const arose = columns.map((row) => row[6]);
  check(arose.every((now, i) => i === 0 || now >= arose[i - 1]), "what has arisen stays so", arose.join(" "));
  check(arose[0] === 2 && arose[23] === 4, "from what the survey saw to all", arose.join(" "));
});
