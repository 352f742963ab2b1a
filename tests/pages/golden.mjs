// Pages as they were when somebody last looked at them: node tests.mjs golden NAME PAGE GOLDEN. Compared is
// what a page says and how it is put together, element by element; of pictures how many there are of
// each form, and their words. No coordinates, no style,
// and not the words of the glossary. PAGES_GOLDEN=write accepts what is there:
// read the difference that git shows before you do.
import fs from "node:fs";
import process from "node:process";
import { check, main, visit } from "./browser.mjs";

const CONTEXT = 3; // lines shown around the first difference

const [name, file, golden] = process.argv.slice(2);

// In the page: a line for each element that has words of its own or begins a part.
function outline() {
  const lines = [];
  const own = (element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((node) => node.data).join(" ").replace(/\s+/g, " ").trim();
  const form = (element) => element.localName + [...element.classList].map((one) => `.${one}`).join("");
  function picture(svg, indent) {
    const forms = new Map();
    for (const shape of svg.querySelectorAll("*"))
      forms.set(form(shape), (forms.get(form(shape)) ?? 0) + 1);
    for (const [shape, count] of [...forms].sort()) lines.push(`${indent}${count} ${shape}`);
    for (const text of svg.querySelectorAll("text")) lines.push(`${indent}"${text.textContent.replace(/\s+/g, " ").trim()}"`);
  }
  function walk(element, depth) {
    const indent = "  ".repeat(depth);
    const target = element.getAttribute("href");
    const words = own(element);
    lines.push(`${indent}${form(element)}${target === null ? "" : ` -> ${target}`}${words === "" ? "" : `: ${words}`}`);
    if (element.localName === "svg") picture(element, `${indent}  `);
    else if (element.id !== "words") for (const child of element.children) walk(child, depth + 1);
  }
  walk(document.querySelector("main"), 0);
  return lines;
}

// What is of this machine and not of the run.
function normal(line) {
  return line.replace(/kernel \S+/g, "kernel ...").replace(/\/\S*mpiexec\S*/g, "mpiexec");
}

function difference(is, was) {
  const at = is.findIndex((line, i) => line !== was[i]);
  const first = at < 0 ? is.length : at;
  const show = (lines, sign) => lines.slice(Math.max(0, first - CONTEXT), first + CONTEXT + 1).map((line) => `${sign} ${line}`);
  return [`line ${first + 1} of ${golden}; PAGES_GOLDEN=write accepts it`, ...show(was, "-"), ...show(is, "+")].join("\n");
}

await main(async (browser) => {
  const page = await visit(browser, file, { javaScriptEnabled: false });
  const is = (await page.evaluate(outline)).map(normal);
  if (process.env.PAGES_GOLDEN === "write") fs.writeFileSync(golden, `${is.join("\n")}\n`);
  const was = fs.existsSync(golden) ? fs.readFileSync(golden, "utf8").split("\n").slice(0, -1) : [];
  check(is.length === was.length && is.every((line, i) => line === was[i]), `${name}: as its golden page`, difference(is, was));
});
