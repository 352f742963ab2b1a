// Headless Chromium for the tests of the pages, and TAP for what they find. A page is opened from
// disk, as a person opens it; whatever it asks a network for, and whatever it complains of, is kept.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const MODULES = process.env.PAGES_MODULES; // where node_modules is
const SHOTS = process.env.PAGES_SHOTS; // folder for pictures; unset: none are made, for they take a quarter of the time
// The first one found is taken. The headless shell takes less than half of the time of the others.
const BROWSERS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`);
const WINDOW = { width: 1280, height: 800 };
const LIMIT_MS = 120000; // for anything: against hanging, not a measure of anything
const LOOK_MS = 20; // between two looks at what is waited for

if (MODULES === undefined) throw new Error("PAGES_MODULES is not set: run it by bats tests/pages.bats");
const require = createRequire(path.join(path.resolve(MODULES), "/"));
const { chromium } = require("playwright-core");

let count = 0;
let failed = 0;

export function check(fact, what, details = "") {
  count++;
  failed += fact ? 0 : 1;
  console.log(`${fact ? "ok" : "not ok"} ${count} - ${what}`);
  if (!fact && details !== "") console.log(String(details).replace(/^/gm, "#   "));
}

export async function open() {
  const browser = process.env.CHROMIUM ?? BROWSERS.find((file) => fs.existsSync(file));
  if (browser === undefined) throw new Error(`no Chromium: ${BROWSERS.join(", ")}, or CHROMIUM`);
  // Its sandbox wants namespaces that a container does not give; the pages are our own. The
  // machine has no graphics card, and the browser's process that emulates one only costs time.
  return chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-gpu"], timeout: LIMIT_MS });
}

// options: those of a context of playwright. page.complaints: errors and what a network was asked for.
export async function blank(browser, options = {}) {
  const context = await browser.newContext({ viewport: WINDOW, ...options });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    page.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) page.complaints.push(`asks for ${request.url()}`);
  });
  return page;
}

export async function go(page, file) {
  await page.goto(pathToFileURL(path.resolve(file)).href);
}

// A browser may let go what is pressed before it has drawn a page for the first time.
export async function drawn(page) {
  await page.evaluate(() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then))));
}

// What the page comes to: a browser answers keys, clicks and scrolls when it comes to it. `look` runs
// here; what it gives at last is said where it never is `wanted` (a value, or a test of one).
export async function becomes(look, wanted, what) {
  const until = Date.now() + LIMIT_MS;
  const good = typeof wanted === "function" ? wanted : (is) => is === wanted;
  let is = await look();
  while (!good(is) && Date.now() < until) {
    await new Promise((later) => setTimeout(later, LOOK_MS));
    is = await look();
  }
  check(good(is), what, `it is ${JSON.stringify(is)} after ${LIMIT_MS / 1000} s`);
}

export async function visit(browser, file, options = {}) {
  const page = await blank(browser, options);
  await go(page, file);
  // No animation frame is ever given to a page that runs no script, and none hears a key.
  if (options.javaScriptEnabled !== false) await drawn(page);
  return page;
}

const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const WCAG = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] };
const CONTRAST = { type: "rule", values: ["color-contrast"] };

// What axe-core finds against WCAG 2.1 A and AA. It loads nothing: it may not ask for a file.
async function violations(page, runOnly) {
  await page.evaluate(AXE); // not as an element of the page, which its policy would keep out
  return page.evaluate(async (only) => {
    const result = await globalThis.axe.run(document, { runOnly: only, resultTypes: ["violations"], preload: false });
    return result.violations.map(
      (one) =>
        `${one.id}: ${one.help} (${one.nodes.length}): ` +
        one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any.map((a) => a.message).join("; ")}`).join(" | "),
    );
  }, runOnly);
}

// In light and in dark: no complaint, accessible, and a picture NAME-light and NAME-dark. In dark only
// the contrasts are looked at again: all else that makes a page accessible is the same.
export async function lightAndDark(page, name, shot = name) {
  for (const [colorScheme, rules] of [["light", WCAG], ["dark", CONTRAST]]) {
    await page.emulateMedia({ colorScheme });
    await drawn(page);
    await picture(page, `${shot}-${colorScheme}`);
    check(page.complaints.length === 0, `${name}: no errors, ${colorScheme}`, page.complaints.join("\n"));
    const found = await violations(page, rules);
    check(found.length === 0, `${name}: accessible, ${colorScheme}`, found.join("\n"));
  }
}

// whole: not only what is in sight.
export async function picture(page, name, whole = false) {
  if (SHOTS === undefined) return;
  fs.mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: whole });
}

// In the page: the pairs of texts of a picture that lie over each other, of those that can be seen.
export function overlaps(svg) {
  const all = [...svg.querySelectorAll("text")]
    .map((text) => ({ text: text.textContent.trim(), box: text.getBoundingClientRect() }))
    .filter((one) => one.box.width > 0);
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return all.flatMap((a, i) => all.slice(i + 1).filter((b) => meet(a.box, b.box)).map((b) => `${a.text} / ${b.text}`));
}

// All that can be read, once whatever is closed has been opened.
export async function readAll(page) {
  const closed = page.locator("details:not([open]) > summary:visible");
  while ((await closed.count()) > 0) await closed.first().click();
  return page.locator("body").innerText();
}

let browser;

// Runs the test in the one browser of this process.
export async function main(test) {
  try {
    browser ??= await open();
    await test(browser);
  } catch (error) {
    check(false, "the test came to its end", error.stack);
  }
}

// Ends the browser, and says by the exit status how the tests went.
export async function end() {
  await browser?.close();
  console.log(`1..${count}`);
  process.exitCode = failed > 0 || count === 0 ? 1 : 0;
}
