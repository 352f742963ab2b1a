// What the script adds to the page of a run: node tests.mjs keys PAGE. The run has a witness of four
// events, two sends of rank 0 (A, B) and the deliveries at rank 1 (C takes B's message, D takes A's).
import process from "node:process";
import { becomes, check, main, picture, visit } from "./browser.mjs";

const file = process.argv[2];

const panelText = (page) => page.locator("aside.panel p[role=status]").innerText();
const letterOf = (page, letter) => page.locator(`svg.diagram [data-letter=${letter}]`).first();
const idOf = (page, letter) => letterOf(page, letter).getAttribute("data-event");
const focused = (page, attribute = "data-letter") =>
  page.evaluate((name) => document.activeElement.getAttribute(name), attribute);
const isShown = (page, selector) => page.locator(selector).isVisible();

// Presses the key, and the event of that letter is chosen by it.
async function leadsTo(page, key, letter, what) {
  await page.keyboard.press(key);
  await becomes(() => focused(page), letter, what);
}

async function byKeyboard(browser) {
  const page = await visit(browser, file);
  await leadsTo(page, "n", "A", "n goes to the first event of the witness");
  await leadsTo(page, "n", "B", "and on to the next");
  await leadsTo(page, "m", "C", "m follows the message to where it was delivered");
  await leadsTo(page, "m", "B", "and back to where it was sent");
  await leadsTo(page, "ArrowLeft", "A", "an arrow goes to the event before on the same rank");
  await page.keyboard.press("ArrowDown");
  await becomes(() => focused(page, "data-rank"), "1", "another to the rank below");
  const below = await focused(page, "data-event");
  await page.keyboard.press("n");
  await becomes(() => focused(page, "data-event"), (id) => id !== below, "n goes on from there");
  const here = await focused(page);
  await page.keyboard.press("n");
  await becomes(() => focused(page), (letter) => letter !== here, "and on");
  await leadsTo(page, "p", here, "p goes back along the witness");
  await leadsTo(page, "v", "A", "v comes back to the violation");
  await page.keyboard.press("t");
  const id = await idOf(page, "A");
  const isInSight = () => page.evaluate((row) => {
    const box = document.getElementById(row).getBoundingClientRect();
    return box.top >= 0 && box.bottom <= window.innerHeight;
  }, id);
  await becomes(isInSight, true, "t shows its row of the table");
  await picture(page, "keys-chosen");
  await page.keyboard.press("Escape");
  await becomes(() => isShown(page, "aside.panel"), false, "Escape lets go");
  check(page.complaints.length === 0, "no errors on the way", page.complaints.join("\n"));
  await page.context().close();
}

async function helpAndZoom(browser) {
  const page = await visit(browser, file);
  await page.keyboard.press("?");
  await becomes(() => isShown(page, "dialog"), true, "? lists the keys");
  check((await page.locator("dialog").innerText()).includes("follow the message"), "and what they do");
  await page.keyboard.press("Escape");
  await becomes(() => isShown(page, "dialog"), false, "Escape closes the list");
  const svg = page.locator("svg.diagram").first();
  const width = async () => Number(await svg.getAttribute("width"));
  const before = await width();
  await page.keyboard.press("+");
  await becomes(width, (is) => is > before, "+ makes the picture larger");
  await page.keyboard.press("0");
  await becomes(width, before, "0 brings it back");
  await page.keyboard.press("?");
  await becomes(() => isShown(page, "dialog"), true, "? lists the keys again");
  await page.evaluate(() => {
    document.querySelector("dialog").close();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
  });
  check((await width()) > before, "a key counts as soon as the list is closed, drawn or not");
  await page.context().close();
}

// What was let go stays so when the browser gives the focus back, as it does behind a dialog.
async function letsGo(browser) {
  const page = await visit(browser, file);
  await leadsTo(page, "n", "A", "an event is chosen");
  await page.keyboard.press("Escape");
  await becomes(() => isShown(page, "aside.panel"), false, "and let go");
  await page.keyboard.press("?");
  await becomes(() => isShown(page, "dialog"), true, "the keys are looked up");
  await page.keyboard.press("Escape");
  await becomes(() => isShown(page, "dialog"), false, "and put away");
  await becomes(() => focused(page), "A", "the focus is where it was");
  check(!(await isShown(page, "aside.panel")), "nothing is chosen by that");
  await page.context().close();
}

async function byPointer(browser) {
  const page = await visit(browser, file);
  await letterOf(page, "D").hover();
  await becomes(() => panelText(page), (text) => text.includes("MPI_Recv"), "an event under the pointer says what it is");
  await letterOf(page, "D").click();
  const row = page.locator(`tr[id="${await idOf(page, "D")}"]`);
  await becomes(() => row.getAttribute("class"), (all) => (all ?? "").split(" ").includes("chosen"), "a click marks its row");
  await page.locator("aside.panel button", { hasText: "follow to" }).first().click();
  await becomes(() => focused(page), "A", "a button follows the message");
  await letterOf(page, "C").click();
  await becomes(() => focused(page), "C", "a click chooses another event");
  await page.locator("button[data-do=violation]").click();
  await becomes(() => focused(page), "A", "a button jumps to the violation");
  await page.context().close();
}

// Where a rank stood at an event is shown with it, as far as there is room; the rest stands below.
async function showsStacks(browser) {
  const page = await visit(browser, file);
  const frames = page.locator("aside.panel pre");
  const lines = async () => ((await frames.isVisible()) ? (await frames.innerText()).split("\n") : []);
  const begins = (text, count) => (all) => all.length === count && all[0].startsWith(text);
  await letterOf(page, "A").hover();
  await becomes(lines, begins("#2  std::map<int, <script>", 2), "an event under the pointer shows its call stack");
  await letterOf(page, "C").hover();
  await becomes(lines, (all) => all.length === 0, "one that has none shows none");
  await leadsTo(page, "n", "A", "an event is chosen");
  await leadsTo(page, "n", "B", "and the next");
  await becomes(lines, begins("#0  one", 7), "a long one is cut");
  check((await lines())[6] === "...", "and says so");
  const stack = page.locator(`[id="stack-${await idOf(page, "B")}"]`);
  await stack.locator("summary").click();
  await becomes(() => stack.locator("pre").isVisible(), false, "below it can be folded");
  await page.keyboard.press("s");
  await becomes(() => stack.locator("pre").isVisible(), true, "s unfolds it");
  await becomes(() => stack.evaluate((one) => {
    const box = one.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= window.innerHeight;
  }), true, "and shows it");
  check(page.complaints.length === 0, "nothing in it is run", page.complaints.join("\n"));
  await page.context().close();
}

async function filters(browser) {
  const page = await visit(browser, file);
  const visible = (selector) => page.locator(selector).evaluateAll((all) =>
    all.filter((one) => one.getBoundingClientRect().width > 0).length);
  const notes = () => visible("svg.diagram a.event[data-kind=note]");
  const rows = () => visible("tr[data-rank='0']");
  const button = page.locator("[data-filter=note]");
  const before = await notes();
  check(before > 0, "there are notes", `${before}`);
  await button.click();
  await becomes(notes, 0, "a kind can be taken out");
  await becomes(() => button.getAttribute("aria-pressed"), "false", "and its button says so");
  await button.click();
  await becomes(notes, before, "and brought back");
  const ranks = page.locator(".controls input[aria-label^=ranks]");
  await ranks.fill("1");
  await becomes(rows, 0, "only a rank that is asked for is shown");
  check((await visible("tr[data-rank='1']")) > 0, "that one is");
  await ranks.fill("one");
  await becomes(() => ranks.getAttribute("aria-invalid"), "true", "what is no rank is said");
  await ranks.fill("");
  await becomes(rows, (count) => count > 0, "all are back");
  await page.context().close();
}

async function prints(browser) {
  const page = await visit(browser, file);
  await page.emulateMedia({ media: "print" });
  await becomes(() => page.locator("button:visible").count(), 0, "nothing to press is printed");
  await becomes(() => page.locator("svg.diagram").first().isVisible(), true, "the picture is");
  await picture(page, "print");
  await page.context().close();
}

await main(async (browser) => {
  await byKeyboard(browser);
  await helpAndZoom(browser);
  await letsGo(browser);
  await byPointer(browser);
  await showsStacks(browser);
  await filters(browser);
  await prints(browser);
});
