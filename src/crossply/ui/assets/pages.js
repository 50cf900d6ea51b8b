// Finding in texts and schemas, arrow keys in the waterfall, and the editor of the playground.
"use strict";

// Find in a text: matches are painted without touching the document; Enter goes on to the next.
function findInText(input) {
  const text = document.getElementById(input.dataset.find);
  const node = text && text.firstChild;
  const wanted = input.value.toLowerCase();
  const status = input.parentElement.querySelector("[data-found]");
  const ranges = [];
  if (node && wanted) {
    const content = node.data.toLowerCase();
    for (let at = content.indexOf(wanted); at >= 0 && ranges.length < 1000; at = content.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  if (window.Highlight && CSS.highlights) CSS.highlights.set("found", new Highlight(...ranges));
  if (status) status.textContent = wanted ? `${ranges.length} found` : "";
  return { text, ranges };
}

function showMatch(input, step) {
  const { text, ranges } = findInText(input);
  if (!ranges.length) return;
  const number = ((Number(input.dataset.match || -1) + step) % ranges.length + ranges.length) % ranges.length;
  input.dataset.match = number;
  const match = ranges[number].getBoundingClientRect();
  const frame = text.getBoundingClientRect();
  text.scrollTop += match.top - frame.top - frame.height / 3;
}

// Filter a tree of fields: a field stays if its text matches, or that of one below it.
function filterList(input) {
  const wanted = input.value.trim().toLowerCase();
  let found = 0;
  for (const item of document.querySelectorAll(`#${input.dataset.filterList} .schema-field`)) {
    const matches = !wanted || item.textContent.toLowerCase().includes(wanted);
    item.toggleAttribute("data-hidden", !matches);
    if (wanted && matches) {
      const details = item.querySelector(":scope > details");
      if (details) details.open = true;
      else found += 1;
    }
  }
  const status = input.parentElement.querySelector("[data-found]");
  if (status) status.textContent = wanted ? `${found} found` : "";
}

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-find]")) {
    delete event.target.dataset.match;
    showMatch(event.target, 1);
  } else if (event.target.matches("[data-filter-list]")) {
    filterList(event.target);
  } else if (event.target.closest("[data-editor]")) {
    numberLines();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("[data-find]")) {
    event.preventDefault();
    showMatch(event.target, event.shiftKey ? -1 : 1);
    return;
  }
  const rows = event.target.closest("[data-rows]");
  if (!rows || !["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
  const links = [...rows.querySelectorAll("a")];
  const at = links.indexOf(event.target.closest("a"));
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (!links[next]) return;
  event.preventDefault();
  links[next].focus();
});

// The editor: line numbers that scroll with the text, and marks at the lines that have problems.
function numberLines() {
  const editor = document.querySelector("[data-editor]");
  if (!editor) return;
  const text = editor.querySelector("textarea");
  const gutter = editor.querySelector(".gutter");
  const bad = new Set([...document.querySelectorAll("[data-line]")].map((button) => Number(button.dataset.line)));
  const lines = text.value.split("\n").length;
  gutter.replaceChildren(
    ...Array.from({ length: Math.min(lines, 10000) }, (_, index) => {
      const number = document.createElement("div");
      number.textContent = index + 1;
      if (bad.has(index + 1)) number.className = "bad";
      return number;
    }),
  );
  gutter.scrollTop = text.scrollTop;
}

function goToLine(line) {
  const text = document.querySelector("[data-editor] textarea");
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[line - 1] || "").length);
  text.scrollTop = (line - 6) * Number.parseFloat(getComputedStyle(text).lineHeight);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-line]");
  if (button) goToLine(Number(button.dataset.line));
});

document.addEventListener("scroll", (event) => {
  const editor = event.target.closest && event.target.closest("[data-editor]");
  if (editor && event.target.tagName === "TEXTAREA") editor.querySelector(".gutter").scrollTop = event.target.scrollTop;
}, true);

// What the form changed becomes the text of the editor, unless that was edited meanwhile.
let textSent = "";
document.addEventListener("htmx:configRequest", () => {
  textSent = document.querySelector("[data-editor] textarea")?.value;
});
document.addEventListener("htmx:oobAfterSwap", (event) => {
  if (event.detail.target.id !== "text-by-form" && event.target.id !== "text-by-form") return;
  const source = document.getElementById("text-by-form");
  const text = document.querySelector("[data-editor] textarea");
  if (text && source && text.value === textSent) text.value = source.textContent;
});

document.addEventListener("htmx:afterSettle", () => {
  const result = document.getElementById("result");
  if (!result) return;
  numberLines();
  if (result.dataset.address) history.replaceState(history.state, "", location.pathname + result.dataset.address);
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt.matches && event.detail.elt.matches("[data-append]")) event.detail.elt.value = "";
});
document.addEventListener("DOMContentLoaded", numberLines);
