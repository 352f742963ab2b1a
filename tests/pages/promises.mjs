// What every page of a run promises: node tests.mjs promises NAME PAGE RUN GLOSSARY BEGAN MOMENT...: what
// began it, which is in the picture as well, and then each MOMENT, in that order; all deaths; parts
// in the order in which they are read; labels that do not overlap; the run on a strip; words that
// are explained; colours of lines only where there are lines. RUN: run.json of the run.
import fs from "node:fs";
import process from "node:process";
import { becomes, check, drawn, main, overlaps, picture, readAll, visit } from "./browser.mjs";

const [name, file, run, glossary, began, ...moments] = process.argv.slice(2);

async function tellsTheStory(page) {
  const first = await page.locator("p.began, p.not-begun").allInnerTexts();
  check(began === "" ? first.length === 0 : first.join().includes(began), `${name}: what began it: ${began}`, first.join());
  const told = await page.locator("ol.moments li").allInnerTexts();
  let at = 0;
  for (const moment of moments) {
    const found = told.findIndex((text, i) => i >= at && text.includes(moment));
    check(found >= 0, `${name}: then: ${moment}`, told.slice(at).join("\n"));
    at = found >= 0 ? found + 1 : at;
  }
}

// Whoever did not end by itself, but for those that Faultline ended where nobody could go on.
async function tellsAllDeaths(page) {
  const told = (await page.locator("ol.moments li").allInnerTexts()).join("\n");
  const { end, incarnations, rank_ends: ends } = JSON.parse(fs.readFileSync(run, "utf8"));
  const hangs = end === "deadlock" || end === "time-limit";
  const dead = ends.filter((one) => one.wait_status !== 0 && !(hangs && one.incarnation === incarnations - 1 && one.wait_status === 9));
  const untold = dead.filter((one) => !told.includes(`r${one.rank}#${one.incarnation}`) && !told.includes(`Rank ${one.rank} is killed`));
  check(untold.length === 0, `${name}: each of ${dead.length} deaths is told`, JSON.stringify(untold));
  if (hangs) check(told.includes("Faultline ends all ranks"), `${name}: and who ended the rest`, told);
}

async function showsWhatBeganIt(page) {
  if ((await page.locator("p.began a.event").count()) === 0) return;
  const id = await page.locator("p.began a.event").first().getAttribute("data-event");
  const mark = page.locator("svg.diagram").first().locator(`a.event[data-event="${id}"]`);
  check((await mark.count()) === 1, `${name}: what began it is in the first picture`, id);
  const seen = await mark.evaluate((one) => ({ label: one.parentNode.querySelector("text.label")?.textContent.trim(), faded: one.closest("[opacity]") !== null }));
  check(seen.label && !seen.faded, `${name}: with what it was, and not pale`, JSON.stringify(seen));
}

async function isInOrder(page) {
  const heads = await page.locator("main :is(h1, h2)").allInnerTexts();
  const wanted = ["What happened", "The whole run", "What was printed last", "Claims judged", "Events", "Words"];
  const places = wanted.filter((one) => one !== "What was printed last" || heads.includes(one)).map((one) => heads.findIndex((head) => head.startsWith(one)));
  check(places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1])), `${name}: parts in their order`, heads.join(", "));
  const open = await page.locator("details.events").evaluateAll((all) => all.filter((one) => one.open).length);
  check(open === 0, `${name}: the events are there, and closed`);
}

async function isLegible(page) {
  for (const svg of await page.locator("svg.diagram, svg.overview").all()) {
    const over = await svg.evaluate(overlaps);
    check(over.length === 0, `${name}: no label lies over another, ${(await svg.getAttribute("data-name")) ?? "by time"}`, over.join("\n"));
  }
}

async function hasColoursOfLines(page) {
  for (const svg of await page.locator("svg.diagram").all()) {
    const lines = await svg.locator("g.cut.recovery").count();
    const coloured = await svg.locator("g.arrow.late, g.arrow.early, g.arrow.intra").count();
    check(lines > 0 || coloured === 0, `${name}: late and early only where a line is (${lines} lines, ${coloured} such messages)`);
  }
}

// The glossary is read here by other means than those that put it into the page.
function terms() {
  return fs.readFileSync(glossary, "utf8").split("\n").filter((line) => line.startsWith("| **")).map((line) => {
    const cell = line.split("|")[1];
    const forms = [...cell.matchAll(/\*\*(.+?)\*\*|\((.+?)\)/g)].map((found) => found[1] ?? found[2]);
    return { title: cell.replaceAll("*", "").trim(), forms };
  });
}

async function explainsWords(browser) {
  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "" : ", without a script";
    const page = await visit(browser, file, { javaScriptEnabled });
    const link = page.locator("header a.term").first();
    const target = page.locator(`[id="${(await link.getAttribute("href")).slice(1)}"]`);
    await becomes(() => target.isVisible(), false, `${name}: words are not in the way${how}`);
    await link.click();
    await becomes(() => target.isVisible(), true, `${name}: one leads to its explanation${how}`);
    const dead = await page.locator("a.term").evaluateAll((all) => all.filter((one) => document.getElementById(one.hash.slice(1)) === null).map((one) => one.hash));
    check(dead.length === 0, `${name}: every one does${how}`, dead.join());
    if (!javaScriptEnabled) await explainsAllThatItSays(page);
    await page.context().close();
  }
}

async function explainsAllThatItSays(page) {
  await readAll(page);
  const said = await page.locator("main").evaluate((one) => [...one.children].filter((part) => part.id !== "words").map((part) => part.innerText).join("\n"));
  const explained = await page.locator("#words dt").allInnerTexts();
  const used = terms().filter(({ forms }) => forms.some((form) => new RegExp(`\\b${form}s?\\b`, "i").test(said)));
  const missing = used.filter(({ title }) => !explained.includes(title));
  check(used.length > 10 && missing.length === 0, `${name}: each of ${used.length} words of the glossary is explained`, missing.map(({ title }) => title).join());
}

async function showsTheRunByTime(browser) {
  const page = await visit(browser, file);
  const strip = page.locator("svg.overview");
  const ticks = await strip.locator("text.tick-name").allTextContents();
  check(ticks.length >= 3 && ticks.every((text) => /^\d+(\.\d+)? (s|ms|µs|ns)$/.test(text.trim())), `${name}: the strip has an axis of time`, ticks.join());
  const rows = page.locator("#f-events tbody tr");
  const shown = () => rows.evaluateAll((all) => all.filter((row) => !row.classList.contains("out")).map((row) => Number(row.dataset.at)));
  const marks = () => page.locator("svg.diagram[data-name=whole] g.mark:not(.out)").count();
  const all = await shown(), allMarks = await marks();
  const [left, right, end] = await strip.evaluate((one) => [one.dataset.left, one.dataset.right, one.dataset.seconds].map(Number));
  await strip.scrollIntoViewIfNeeded();
  await drawn(page);
  const box = await strip.boundingBox();
  const x = (share) => box.x + left + share * (right - left);
  await page.mouse.move(x(0.25), box.y + 25);
  await page.mouse.down();
  await page.mouse.move(x(0.5), box.y + 25, { steps: 4 });
  await page.mouse.up();
  const slack = end / (right - left);
  const isIn = (at) => at >= 0.25 * end - slack && at <= 0.5 * end + slack;
  await becomes(async () => (await shown()).length < all.length, true, `${name}: a stretch of it can be chosen with the pointer`);
  const some = await shown();
  check(some.every(isIn) && all.filter((at) => at > 0.26 * end && at < 0.49 * end).length <= some.length, `${name}: then only its events are in the table`, some.join());
  const left_over = await marks();
  check(left_over < allMarks, `${name}: and in the picture`, `${left_over} of ${allMarks}`);
  await picture(page, `${name}-stretch`);
  await page.locator("[data-do=whole]").click();
  await becomes(async () => (await shown()).length, all.length, `${name}: and the whole run is back`);
  const [from] = await page.locator(".controls.range input").all();
  await from.fill(String(0.75 * end));
  await from.press("Enter");
  await becomes(async () => (await shown()).every((at) => at >= 0.75 * end), true, `${name}: a stretch can be typed`);
  await from.fill("soon");
  await from.press("Enter");
  await becomes(() => from.getAttribute("aria-invalid"), "true", `${name}: what is no time is said`);
  check(page.complaints.length === 0, `${name}: no errors`, page.complaints.join("\n"));
  await page.context().close();
}

await main(async (browser) => {
  const page = await visit(browser, file, { javaScriptEnabled: false });
  await tellsTheStory(page);
  await tellsAllDeaths(page);
  await showsWhatBeganIt(page);
  await isInOrder(page);
  await isLegible(page);
  await hasColoursOfLines(page);
  check(await page.locator("svg.overview").isVisible(), `${name}: without a script the strip is a picture`);
  check((await page.locator(".controls").count()) === 0, `${name}: with nothing to press`);
  await page.context().close();
  await explainsWords(browser);
  await showsTheRunByTime(browser);
  const whole = await visit(browser, file);
  await picture(whole, `${name}-first`);
  await picture(whole, `${name}-all`, true);
});
