// What the script adds to the page of a run: node keys.mjs PAGE. The run has a witness of four
// events, two sends of rank 0 (A, B) and the deliveries at rank 1 (C takes B's message, D takes A's).
import process from "node:process";
import { check, main, picture, visit } from "./browser.mjs";

const file = process.argv[2];
const LIMIT_MS = 20000; // against hanging

const panelText = (page) => page.locator("aside.panel p[role=status]").innerText();
const letterOf = (page, letter) => page.locator(`svg.diagram [data-letter=${letter}]`).first();
const idOf = (page, letter) => letterOf(page, letter).getAttribute("data-event");
const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("data-letter"));

async function byKeyboard(browser) {
  const page = await visit(browser, file);
  await page.keyboard.press("n");
  check((await focused(page)) === "A", "n goes to the first event of the witness");
  await page.keyboard.press("n");
  check((await focused(page)) === "B", "and on to the next");
  await page.keyboard.press("m");
  check((await focused(page)) === "C", "m follows the message to where it was delivered");
  await page.keyboard.press("m");
  check((await focused(page)) === "B", "and back to where it was sent");
  await page.keyboard.press("ArrowLeft");
  check((await focused(page)) === "A", "an arrow goes to the event before on the same rank");
  await page.keyboard.press("ArrowDown");
  const below = await page.evaluate(() => document.activeElement.getAttribute("data-rank"));
  check(below === "1", "another to the rank below", below);
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  const here = await focused(page);
  await page.keyboard.press("n");
  await page.keyboard.press("p");
  check(here !== null && (await focused(page)) === here, "p goes back along the witness", here);
  await page.keyboard.press("v");
  check((await focused(page)) === "A", "v comes back to the violation");
  await page.keyboard.press("t");
  const id = await idOf(page, "A");
  const seen = await page
    .waitForFunction((row) => {
      const box = document.getElementById(row).getBoundingClientRect();
      return box.top >= 0 && box.bottom <= window.innerHeight;
    }, id, { timeout: LIMIT_MS })
    .catch(() => null);
  check(seen !== null, "t shows its row of the table");
  await picture(page, "keys-chosen");
  await page.keyboard.press("Escape");
  check(!(await page.locator("aside.panel").isVisible()), "Escape lets go");
  check(page.complaints.length === 0, "no errors on the way", page.complaints.join("\n"));
  await page.context().close();
}

async function helpAndZoom(browser) {
  const page = await visit(browser, file);
  await page.keyboard.press("?");
  check(await page.locator("dialog").isVisible(), "? lists the keys");
  check((await page.locator("dialog").innerText()).includes("follow the message"), "and what they do");
  await page.keyboard.press("Escape");
  check(!(await page.locator("dialog").isVisible()), "Escape closes the list");
  const svg = page.locator("svg.diagram").first();
  const width = async () => Number(await svg.getAttribute("width"));
  const before = await width();
  await page.keyboard.press("+");
  check((await width()) > before, "+ makes the picture larger");
  await page.keyboard.press("0");
  check((await width()) === before, "0 brings it back");
  await page.context().close();
}

async function byPointer(browser) {
  const page = await visit(browser, file);
  await letterOf(page, "D").hover();
  check((await panelText(page)).includes("MPI_Recv"), "an event under the pointer says what it is", await panelText(page));
  await letterOf(page, "D").click();
  const row = page.locator(`tr[id="${await idOf(page, "D")}"]`);
  check((await row.getAttribute("class")).split(" ").includes("chosen"), "a click marks its row");
  await page.locator("aside.panel button", { hasText: "follow to" }).first().click();
  check((await focused(page)) === "A", "a button follows the message");
  await page.locator("button[data-do=violation]").click();
  check((await focused(page)) === "A", "another jumps to the violation");
  await page.context().close();
}

async function filters(browser) {
  const page = await visit(browser, file);
  const visible = (selector) => page.locator(selector).evaluateAll((all) =>
all.filter((one) => one.getBoundingClientRect().width > 0).length);
  const notes = "svg.diagram a.event[data-kind=note]";
  const rows = "tr[data-rank='0']";
  const before = await visible(notes);
  await page.locator("[data-filter=note]").click();
  check(before > 0 && (await visible(notes)) === 0, "a kind can be taken out", `${before} before`);
  check((await page.locator("[data-filter=note]").getAttribute("aria-pressed")) === "false", "and its button says so");
  await page.locator("[data-filter=note]").click();
  check((await visible(notes)) === before, "and brought back");
  const ranks = page.locator(".controls input");
  await ranks.fill("1");
  check((await visible(rows)) === 0 && (await visible("tr[data-rank='1']")) > 0, "only a rank that is asked for is shown");
  await ranks.fill("one");
  check((await ranks.getAttribute("aria-invalid")) === "true", "what is no rank is said");
  await ranks.fill("");
  check((await visible(rows)) > 0, "all are back");
  await page.context().close();
}

async function prints(browser) {
  const page = await visit(browser, file);
  await page.emulateMedia({ media: "print" });
  check((await page.locator("button:visible").count()) === 0, "nothing to press is printed");
  check(await page.locator("svg.diagram").first().isVisible(), "the picture is");
  await picture(page, "print");
  await page.context().close();
}

await main(async (browser) => {
  await byKeyboard(browser);
  await helpAndZoom(browser);
  await byPointer(browser);
  await filters(browser);
  await prints(browser);
});
