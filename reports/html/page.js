// What the pages gain with a script: texts to copy. Everything else is there without it.
"use strict";

(function () {
  function copyButtons() {
    for (const code of document.querySelectorAll("code.copy")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "copy";
      button.setAttribute("aria-label", "copy: " + code.textContent);
      button.addEventListener("click", async function () {
        const range = document.createRange();
        range.selectNodeContents(code);
        const selection = window.getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
        let copied = false;
        try {
          await navigator.clipboard.writeText(code.textContent);
          copied = true;
        } catch (refused) {
          copied = document.execCommand("copy"); // pages opened from disk have no clipboard
        }
        button.textContent = copied ? "copied" : "selected";
      });
      code.after(" ", button);
    }
  }

  copyButtons();
})();
