// The page of a run whose ranks live on when rank 1 dies: node tests.mjs lives PAGE. Process 4 takes rank 1
// over. Lines of lives begin and end, the new one is joined to that of the dead process, and it is
// shown who learned of the death and whom a revocation reached.
import process from "node:process";
import { check, main, overlaps, picture, visit } from "./browser.mjs";

const file = process.argv[2];
const SLACK = 12; // a line ends at the rim of what it joins

// The whole picture is the last one.
const whole = (page) => page.locator("svg.diagram").last();

const lifeOf = (picture, process) => picture.locator(`g.life[data-rank="${process}"]`);

async function showsLives(page) {
  const diagram = whole(page);
  for (const process of [0, 1, 2, 3, 4])
    check((await lifeOf(diagram, process).count()) === 1, `process ${process} has one life, and is not started again`);
  const names = await diagram.locator("g.row").allTextContents().then((all) => all.map((text) => text.replace(/\s+/g, "")));
  check(names.includes("rank1process4"), "the row of the new process says which rank it is", names.join(", "));
  check((await lifeOf(diagram, 1).locator("text.cause").textContent()).trim() === "signal 9", "the death says what of");
  check((await diagram.locator("text.cause").count()) === 1, "nobody else died");
}

// Both ends of a path, and of a line.
const ends = (element) => {
  const point = (at) => ({ x: at.x, y: at.y });
  if (element.localName === "path") return [0, element.getTotalLength()].map((at) => point(element.getPointAtLength(at)));
  return [{ x: element.x1.baseVal.value, y: element.y1.baseVal.value }, { x: element.x2.baseVal.value, y: element.y2.baseVal.value }];
};

const near = (a, b) => Math.hypot(a.x - b.x, a.y - b.y) < SLACK;

async function joinsLives(page) {
  const diagram = whole(page);
  const joins = diagram.locator("g.news.taken-over path");
  check((await joins.count()) === 1, "one process takes a rank over");
  const [from, to] = await joins.first().evaluate(ends);
  const [, death] = await lifeOf(diagram, 1).locator("line").first().evaluate(ends);
  const [birth, end] = await lifeOf(diagram, 4).locator("line").first().evaluate(ends);
  check(near(from, death), "the join begins where the dead process's line ends", JSON.stringify([from, death]));
  check(Math.abs(to.y - birth.y) < SLACK && to.x > birth.x && to.x < end.x, "and ends on the new one's line", JSON.stringify([to, birth, end]));
  check(to.x > death.x, "the new one takes over to the right of the death");
  check(birth.x > death.x, "whose line begins there, too");
}

async function tellsOfTheDeath(page) {
  const diagram = whole(page);
  const learned = await diagram.locator("g.news.learned").evaluateAll((all) => all.map((one) => one.dataset.to.split("-")[1]));
  check(learned.sort().join() === "r0,r2,r3", "each of those who live on learns of the death once", learned.join());
  const labels = await diagram.locator("text.label").allTextContents();
  check(labels.filter((text) => text.trim() === "r1 dead").length === 3, "where it does, it says of whose", labels.join());
  const forward = await diagram.locator("g.news path").evaluateAll((all) => all.every((path) =>
    path.getPointAtLength(0).x < path.getPointAtLength(path.getTotalLength()).x));
  check(forward, "all of it goes from left to right");
  check((await diagram.locator("g.news.revoked").count()) > 0, "a revocation reaches somebody");
  check(labels.some((text) => text.trim() === "revokes") && labels.some((text) => text.trim() === "revoked"), "who revokes and who hears of it");
}

// Whatever is written beside the lines.
async function isLegible(page) {
  for (const diagram of await page.locator("svg.diagram").all()) {
    const over = await diagram.evaluate(overlaps);
    const name = await diagram.getAttribute("data-name");
    check(over.length === 0, `no label lies over another, ${name}`, over.join("\n"));
  }
}

async function hasLegend(page) {
  const legend = await page.locator("p.legend").first().innerText();
  for (const text of ["takes the dead one's rank over", "learns of the death", "a communicator is revoked"])
    check(legend.includes(text), `the legend says: ${text}`, legend);
}

await main(async (browser) => {
  const page = await visit(browser, file);
  await showsLives(page);
  await joinsLives(page);
  await tellsOfTheDeath(page);
  await isLegible(page);
  await hasLegend(page);
  await picture(page, "lives-whole");
  await page.context().close();
});
