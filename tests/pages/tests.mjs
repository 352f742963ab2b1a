// node tests.mjs NAME ARGUMENT... [, NAME ARGUMENT...]...: runs the tests NAME.mjs one after the other. They
// share one process and one browser, because to start these takes as long as a test.
import process from "node:process";
import { end } from "./browser.mjs";

const [node, script, ...words] = process.argv;
for (let number = 0; words.length > 0; number++) {
  const comma = words.indexOf(",");
  const [name, ...args] = words.splice(0, comma < 0 ? words.length : comma + 1).filter((word) => word !== ",");
  process.argv = [node, script, ...args];
  await import(`./${name}.mjs?${number}`); // the number: a module runs once only
}
await end();
