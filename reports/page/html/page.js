// What the pages gain with a script: texts to copy, and in diagrams an event chosen by pointer or
// keyboard, messages followed, filters, zoom. Everything else is there without it.
"use strict";

(function () {
  const KINDS = ["message", "collective", "note", "fault", "call", "storage"];
  const PANEL_FRAMES = 6; // shown with an event; the rest stands below
  const ZOOM_STEP = 1.25, ZOOM_LEAST = 0.3, ZOOM_MOST = 4;
  const HELP = [
    ["← →", "the event before and after on the same rank"],
    ["↑ ↓", "the nearest event on the rank above and below"],
    ["m", "follow the message to its other end"],
    ["n  p", "the next and the previous event of the witness"],
    ["v", "jump to the violation"],
    ["t", "the event's row in the table"],
    ["s", "the event's call stack"],
    ["+  −  0", "larger, smaller, as it was"],
    ["?", "this list"],
    ["Esc", "close, let go"],
  ];

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "onclick" || key === "onchange" || key === "oninput") {
        made.addEventListener(key.slice(2), value);
      } else if (value !== false) {
        made.setAttribute(key, value);
      }
    }
    made.append(...children);
    return made;
  }

  // --- texts to copy ------------------------------------------------------------------------------

  function copyButtons() {
    for (const code of document.querySelectorAll("code.copy")) {
      const button = element("button", { type: "button" }, "copy");
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

  // What a link leads to may stand in a part that is closed; not every browser opens it.
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    for (let part = target; part; part = part.parentElement) {
      if (part.localName === "details" && !part.open) {
        part.open = true;
        target.scrollIntoView({ block: "center" });
      }
    }
  }

  window.addEventListener("hashchange", openTarget);
  openTarget();

  const pictures = [...document.querySelectorAll("svg.diagram")];
  if (pictures.length === 0) {
    return;
  }

  // --- what is in the pictures --------------------------------------------------------------------

  const marks = new Map(); // id of an event to its marks, one for each picture
  const ways = new Map(); // id of an event to the ids at the other ends of its messages
  const all = [...document.querySelectorAll("svg.diagram a.event")];
  const arrows = [...document.querySelectorAll("svg.diagram g.arrow")];
  const witness = [];

  function push(map, key, value) {
    if (!map.has(key)) {
      map.set(key, []);
    }
    if (!map.get(key).includes(value)) {
      map.get(key).push(value);
    }
  }

  for (const mark of all) {
    push(marks, mark.dataset.event, mark);
    const place = mark.parentNode.getAttribute("transform").match(/[-\d.]+/g);
    mark.place = { x: Number(place[0]), y: Number(place[1]) };
    if (mark.dataset.letter && !witness.some((one) => one.id === mark.dataset.event)) {
      witness.push({ id: mark.dataset.event, letter: mark.dataset.letter });
    }
  }
  witness.sort((a, b) => (a.letter < b.letter ? -1 : 1));
  // What is followed first is the application's message, not what the wire made of it.
  const isControl = (arrow) => arrow.classList.contains("control");
  for (const arrow of [...arrows].sort((a, b) => isControl(a) - isControl(b))) {
    const { from, to } = arrow.dataset;
    if (from && to) {
      push(ways, from, to);
      push(ways, to, from);
    }
  }

  // --- the panel ----------------------------------------------------------------------------------

  const panel = element("aside", { class: "panel", "aria-label": "event", hidden: "" });
  const said = element("p", { role: "status" });
  const frames = element("pre", { "aria-label": "call stack", tabindex: "0", hidden: "" });
  const buttons = element("p", { class: "panel-buttons" });
  panel.append(said, frames, buttons);
  document.body.append(panel);

  let chosen = null; // id
  let letGo = null; // id that was let go and has the focus still, or gets it back from a dialog
  let picture = pictures[0]; // the one that was used last

  function words(id) {
    const row = document.getElementById(id);
    const mark = marks.get(id);
    if (!row) {
      return mark ? mark[0].getAttribute("aria-label") : "";
    }
    const cells = [...row.cells].map((cell) => cell.textContent.trim().replace(/\s+/g, " "));
    const parts = [cells[0], cells[3], "at " + cells[1] + " s"];
    if (cells[2]) {
      parts.push("took " + cells[2]);
    }
    if (cells[4]) {
      parts.push("message " + cells[4]);
    }
    if (cells[5]) {
      parts.push("communicator " + cells[5]);
    }
    return parts.join(" · ");
  }

  function stackOf(id) {
    const row = document.getElementById(id);
    return row && row.dataset.stack ? document.getElementById(row.dataset.stack) : null;
  }

  // The innermost frames of a call stack; those of Faultline say nothing of the program.
  function showFrames(stack) {
    const lines = stack ? stack.querySelector("pre").textContent.split("\n") : [];
    const told = lines.map((line) => line.trim()).filter((line) => line.startsWith("#"));
    const more = told.length > PANEL_FRAMES ? ["..."] : [];
    frames.hidden = told.length === 0;
    frames.textContent = told.slice(0, PANEL_FRAMES).concat(more).join("\n");
  }

  function toStack(id) {
    const stack = stackOf(id);
    if (stack) {
      stack.open = true;
      stack.scrollIntoView({ block: "center" });
    }
  }

  function show(id) {
    panel.hidden = !id;
    said.textContent = id ? words(id) : "";
    showFrames(id && stackOf(id));
    buttons.replaceChildren();
    if (!id) {
      return;
    }
    for (const other of ways.get(id) || []) {
      buttons.append(element("button", { type: "button", onclick: () => choose(other, true) },
        "follow to " + (nameOf(other))), " ");
    }
    if (document.getElementById(id)) {
      buttons.append(element("button", { type: "button", onclick: () => toRow(id) }, "row"), " ");
    }
    if (stackOf(id)) {
      buttons.append(element("button", { type: "button", onclick: () => toStack(id) },
        "call stack"), " ");
    }
    buttons.append(element("button", { type: "button", onclick: () => choose(null) }, "close"));
  }

  function nameOf(id) {
    const row = document.getElementById(id);
    return row ? row.cells[0].textContent.trim() : id;
  }

  function toRow(id) {
    const row = document.getElementById(id);
    const details = row && row.closest("details");
    if (details) {
      details.open = true;
    }
    if (row) {
      row.scrollIntoView({ block: "center" });
    }
  }

  // --- choosing -----------------------------------------------------------------------------------

  // The mark in the picture that is in use, else in any.
  function markOf(id) {
    const own = marks.get(id) || [];
    return own.find((mark) => mark.ownerSVGElement === picture) || own[0];
  }

  function choose(id, focus) {
    for (const old of document.querySelectorAll(".chosen")) {
      old.classList.remove("chosen");
    }
    letGo = id ? null : chosen || letGo;
    chosen = id;
    show(id);
    if (!id) {
      return;
    }
    for (const mark of marks.get(id) || []) {
      mark.classList.add("chosen");
    }
    for (const arrow of arrows) {
      if (arrow.dataset.from === id || arrow.dataset.to === id) {
        arrow.classList.add("chosen");
      }
    }
    const row = document.getElementById(id);
    if (row) {
      row.classList.add("chosen");
    }
    const mark = markOf(id);
    if (focus && mark) {
      picture = mark.ownerSVGElement;
      mark.focus({ preventScroll: true });
      mark.scrollIntoView({ block: "nearest", inline: "center" });
    }
  }

  function follow() {
    const ends = ways.get(chosen) || [];
    if (ends.length > 0) {
      choose(ends[0], true);
    }
  }

  function stepWitness(step) {
    if (witness.length === 0) {
      return;
    }
    const at = witness.findIndex((one) => one.id === chosen);
    const next = at < 0 ? (step > 0 ? 0 : witness.length - 1) : (at + step + witness.length) % witness.length;
    choose(witness[next].id, true);
  }

  function toViolation() {
    if (witness.length > 0) {
      picture = pictures[0];
      choose(witness[0].id, true);
      pictures[0].closest("figure").scrollIntoView({ block: "nearest" });
    }
  }

  function isOut(mark) {
    return mark.parentNode.classList.contains("out");
  }

  // To the next mark that lies to one side: along the rank, or on the nearest other one.
  function move(dx, dy) {
    const here = chosen && markOf(chosen);
    if (!here) {
      choose((witness[0] || { id: all[0].dataset.event }).id, true);
      return;
    }
    let best = null, bestCost = Infinity;
    for (const mark of here.ownerSVGElement.querySelectorAll("a.event")) {
      const x = mark.place.x - here.place.x, y = mark.place.y - here.place.y;
      const along = dx !== 0 ? y === 0 && x * dx > 0 : y * dy > 0;
      const cost = dx !== 0 ? Math.abs(x) : Math.abs(y) * 1000 + Math.abs(x);
      if (mark !== here && !isOut(mark) && along && cost < bestCost) {
        best = mark;
        bestCost = cost;
      }
    }
    if (best) {
      choose(best.dataset.event, true);
    }
  }

  // --- zoom ---------------------------------------------------------------------------------------

  function zoom(factor) {
    const scale = factor === 0 ? 1 : Math.min(ZOOM_MOST, Math.max(ZOOM_LEAST, (picture.scale || 1) * factor));
    const box = picture.viewBox.baseVal;
    picture.scale = scale;
    picture.setAttribute("width", String(box.width * scale));
    picture.setAttribute("height", String(box.height * scale));
  }

  // --- filters ------------------------------------------------------------------------------------

  // range: seconds from and to; null: the whole run.
  const filter = { ranks: null, kinds: new Set(KINDS), comm: "", range: null };

  // "0, 2-5"; null: all.
  function ranksOf(text) {
    const ranks = new Set();
    for (const part of text.split(/[\s,]+/).filter(Boolean)) {
      const ends = part.match(/^(\d+)(?:-(\d+))?$/);
      if (!ends) {
        return undefined;
      }
      const last = Math.min(Number(ends[2] || ends[1]), 65535);
      for (let rank = Number(ends[1]); rank <= last; rank++) {
        ranks.add(rank);
      }
    }
    return ranks.size > 0 ? ranks : null;
  }

  function passes(data) {
    return (filter.ranks === null || data.rank === undefined || filter.ranks.has(Number(data.rank))) &&
      (data.kind === undefined || filter.kinds.has(data.kind)) &&
      (filter.comm === "" || !data.comm || data.comm === filter.comm);
  }

  // The picture around the witness and the other run stay as they are.
  function isInRange(one, svg) {
    if (filter.range === null || (svg && svg.dataset.name === "brief") || one.closest(".beside")) {
      return true;
    }
    const at = Number(one.dataset.at);
    return at >= filter.range[0] && at <= filter.range[1];
  }

  function markIn(svg, id) {
    return marks.get(id).find((mark) => mark.ownerSVGElement === svg);
  }

  function applyFilter() {
    for (const mark of all) {
      mark.parentNode.classList.toggle("out", !passes(mark.dataset) || !isInRange(mark, mark.ownerSVGElement));
    }
    for (const one of document.querySelectorAll("g.row, g.life, rect.band")) {
      one.classList.toggle("out", !passes(one.dataset));
    }
    for (const row of document.querySelectorAll("tr[data-rank]")) {
      row.classList.toggle("out", !passes(row.dataset) || !isInRange(row, null));
    }
    for (const join of [...arrows, ...document.querySelectorAll("g.news")]) {
      const ends = [join.dataset.from, join.dataset.to].filter(Boolean).map((id) => markIn(join.ownerSVGElement, id));
      join.classList.toggle("out", !passes(join.dataset) || ends.some(isOut));
    }
    const rows = [...document.querySelectorAll("tr[data-rank]")];
    const shown = rows.filter((row) => !row.classList.contains("out")).length;
    amount.textContent = shown === rows.length ? "" : shown + " of " + rows.length + " rows pass the filter";
  }

  const amount = element("span", { role: "status" });

  function controls() {
    const ranks = element("input", {
      type: "text", size: "8", placeholder: "all", "aria-label": "ranks, for example 0, 2-5",
      oninput: () => {
        const wanted = ranksOf(ranks.value);
        ranks.setAttribute("aria-invalid", String(wanted === undefined));
        if (wanted !== undefined) {
          filter.ranks = wanted;
          applyFilter();
        }
      },
    });
    const comms = [...new Set(all.map((mark) => mark.dataset.comm).filter(Boolean))].sort();
    const comm = element("select", {
      "aria-label": "communicator",
      onchange: () => {
        filter.comm = comm.value;
        applyFilter();
      },
    }, element("option", { value: "" }, "all"), ...comms.map((name) => element("option", { value: name }, name)));
    const there = KINDS.filter((kind) => all.some((mark) => mark.dataset.kind === kind));
    const kinds = there.map((kind) => element("button", {
      type: "button", "aria-pressed": "true", "data-filter": kind,
      onclick: (event) => {
        const on = event.currentTarget.getAttribute("aria-pressed") !== "true";
        event.currentTarget.setAttribute("aria-pressed", String(on));
        filter.kinds[on ? "add" : "delete"](kind);
        applyFilter();
      },
    }, kind));
    const bar = element("div", { class: "controls", role: "group", "aria-label": "diagram" });
    bar.append(
      element("button", { type: "button", "data-do": "violation", onclick: toViolation, hidden: witness.length > 0 ? false : "" }, "jump to the violation"),
      element("label", {}, "ranks ", ranks), element("label", {}, "communicator ", comm), ...kinds,
      element("button", { type: "button", "aria-label": "smaller", onclick: () => zoom(1 / ZOOM_STEP) }, "−"),
      element("button", { type: "button", "aria-label": "larger", onclick: () => zoom(ZOOM_STEP) }, "+"),
      element("button", { type: "button", "aria-label": "keys", onclick: () => help.showModal() }, "?"), amount);
    pictures[0].closest("figure").after(bar);
  }

  // --- a stretch of the run -----------------------------------------------------------------------

  // On the strip with the pointer, or in two fields.
  function chooseRange(strip) {
    const data = strip.dataset;
    const left = Number(data.left), right = Number(data.right), end = Number(data.seconds);
    const top = Number(data.top), bottom = Number(data.bottom);
    const frame = document.createElementNS(strip.namespaceURI, "rect");
    const fields = ["from", "to"].map((name) => element("input", {
      type: "text", size: "10", inputmode: "decimal", "aria-label": name + " (seconds)", onchange: readFields,
    }));
    let begun = null; // where the pointer went down
    let moved = false;

    function secondsAt(event) {
      const box = strip.getBoundingClientRect();
      const x = (event.clientX - box.left) * strip.viewBox.baseVal.width / box.width;
      return Math.min(1, Math.max(0, (x - left) / (right - left))) * end;
    }

    function xOf(seconds) {
      return left + seconds / end * (right - left);
    }

    // No fields are written while they are read: what is no number stays, and is said.
    function setRange(range) {
      filter.range = range;
      const [from, to] = range || [0, end];
      for (const [key, value] of Object.entries({ x: xOf(from), y: top - 4, width: Math.max(1, xOf(to) - xOf(from)), height: bottom - top + 8 })) {
        frame.setAttribute(key, String(value));
      }
      frame.classList.toggle("out", range === null);
      fields[0].value = range ? String(Number(from.toFixed(9))) : "";
      fields[1].value = range ? String(Number(to.toFixed(9))) : "";
      for (const field of fields) {
        field.removeAttribute("aria-invalid");
      }
      applyFilter();
      const first = all.find((mark) => mark.ownerSVGElement.dataset.name === "whole" && !isOut(mark));
      if (range && first) {
        const view = first.closest(".scroll");
        view.scrollLeft = first.place.x * (first.ownerSVGElement.scale || 1) - view.clientWidth / 8;
      }
    }

    function readFields() {
      const numbers = fields.map((field, i) => (field.value.trim() === "" ? i * end : Number(field.value)));
      fields.forEach((field, i) => field.setAttribute("aria-invalid", String(Number.isNaN(numbers[i]))));
      if (!numbers.some(Number.isNaN)) {
        setRange([Math.min(...numbers), Math.max(...numbers)]);
      }
    }

    strip.addEventListener("pointerdown", function (event) {
      if (event.button === 0) {
        begun = secondsAt(event);
        moved = false;
        strip.setPointerCapture(event.pointerId);
        event.preventDefault();
      }
    });
    strip.addEventListener("pointermove", function (event) {
      const now = secondsAt(event);
      if (begun !== null && (moved || Math.abs(xOf(now) - xOf(begun)) > 3)) {
        moved = true;
        setRange([Math.min(begun, now), Math.max(begun, now)]);
      }
    });
    // Where the pointer was only pressed, a mark below it is chosen, else the whole run is shown again.
    strip.addEventListener("pointerup", function (event) {
      const at = document.elementsFromPoint(event.clientX, event.clientY).map((one) => one.closest("a.at")).find(Boolean);
      if (begun !== null && !moved && at) {
        choose(at.getAttribute("href").slice(1), true);
      } else if (begun !== null && !moved) {
        setRange(null);
      }
      begun = null;
    });
    strip.addEventListener("click", (event) => event.preventDefault());
    frame.setAttribute("class", "range out");
    frame.setAttribute("fill-opacity", "0.2");
    strip.append(frame);
    const bar = element("div", { class: "controls range", role: "group", "aria-label": "a stretch of the run" });
    bar.append(element("label", {}, "from (s) ", fields[0]), element("label", {}, "to (s) ", fields[1]),
      element("button", { type: "button", "data-do": "whole", onclick: () => setRange(null) }, "the whole run"));
    const figure = strip.closest("figure");
    figure.after(bar);
    for (const said of figure.querySelectorAll(".needs-script")) {
      said.hidden = false;
    }
  }

  document.querySelectorAll("svg.overview").forEach(chooseRange);

  // --- keys ---------------------------------------------------------------------------------------

  const help = element("dialog", { class: "help", "aria-label": "keys" },
    element("h2", {}, "Keys"),
    element("dl", { class: "facts" }, ...HELP.flatMap(([key, text]) => [element("dt", {}, key), element("dd", {}, text)])),
    element("button", { type: "button", onclick: () => help.close() }, "close"));
  document.body.append(help);

  const keys = {
    ArrowLeft: () => move(-1, 0), ArrowRight: () => move(1, 0),
    ArrowUp: () => move(0, -1), ArrowDown: () => move(0, 1),
    m: follow, n: () => stepWitness(1), p: () => stepWitness(-1), v: toViolation,
    t: () => chosen && toRow(chosen), s: () => chosen && toStack(chosen), "+": () => zoom(ZOOM_STEP), "-": () => zoom(1 / ZOOM_STEP),
    0: () => zoom(0), "?": () => help.showModal(), Escape: () => choose(null),
  };

  document.addEventListener("keydown", function (event) {
    // A dialog that is closed keeps the focus until the page is drawn again: keys are ours by then.
    const field = event.target.closest("input, select, textarea, dialog[open]");
    const arrow = event.key.startsWith("Arrow");
    const inPicture = event.target.closest("svg.diagram") !== null;
    if (field || event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys) ||
      (arrow && !inPicture)) {
      return;
    }
    event.preventDefault();
    keys[event.key]();
  });

  // --- pointer ------------------------------------------------------------------------------------

  for (const svg of pictures) {
    svg.addEventListener("click", function (event) {
      const mark = event.target.closest("a.event"), arrow = event.target.closest("g.arrow");
      picture = svg;
      if (mark && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        choose(mark.dataset.event, true);
      } else if (arrow) {
        const { from, to } = arrow.dataset;
        choose(chosen === to ? from || to : to || from, true);
      } else if (!mark) {
        choose(null);
      }
    });
    svg.addEventListener("pointerover", function (event) {
      const mark = event.target.closest("a.event");
      if (mark) {
        show(mark.dataset.event);
      } else if (said.textContent !== "") {
        show(chosen);
      }
    });
    svg.addEventListener("focusin", function (event) {
      const mark = event.target.closest("a.event");
      picture = svg;
      if (mark && mark.dataset.event !== chosen && mark.dataset.event !== letGo) {
        choose(mark.dataset.event);
      }
    });
  }

  controls();
})();
