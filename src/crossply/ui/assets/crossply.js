// Live updates, the theme, and the keyboard. Pages work without this file, except for live updates.
"use strict";

// Live: one stream a page, only while it is seen. A browser allows six connections to a server, and tabs add up.
const live = { source: null };

function topics() {
  return document.documentElement.dataset.topics || "";
}

function connect() {
  if (live.source || !topics() || document.hidden) return;
  live.source = new EventSource("/live?topics=" + encodeURIComponent(topics()));
  live.source.addEventListener("open", () => show("Live", true));
  live.source.addEventListener("changed", refresh);
  live.source.addEventListener("error", () => show("Reconnecting", false));
}

function disconnect() {
  if (live.source) live.source.close();
  live.source = null;
}

function refresh() {
  htmx.trigger("#main", "live");
}

function show(word, connected) {
  const element = document.getElementById("live");
  if (!element) return;
  element.classList.toggle("connected", connected);
  element.querySelector(".live-word").textContent = word;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    disconnect();
  } else {
    connect();
    refresh(); // what was missed meanwhile
  }
});
window.addEventListener("pagehide", disconnect);

// The page asks for the address that the user sees now, which links of the page may have changed.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt.id === "main") event.detail.path = location.pathname + location.search;
});
// A refusal is shown, too; a stale answer (the address changed meanwhile) is not.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status >= 400 && event.detail.target.id === "main") event.detail.shouldSwap = true;
  if (event.detail.requestConfig.elt.id === "main") {
    const asked = new URL(event.detail.xhr.responseURL);
    if (asked.pathname + asked.search !== location.pathname + location.search) event.detail.shouldSwap = false;
  }
});

// An update that moves the focused item of a tree takes the focus from it: it is given back.
let focused = "";
document.addEventListener("htmx:beforeSwap", () => {
  focused = document.activeElement?.matches("[role=treeitem]") ? document.activeElement.id : "";
});
document.addEventListener("htmx:afterSettle", () => {
  const item = focused && document.getElementById(focused);
  if (item && (document.activeElement === document.body || document.activeElement === item)) focusItem(item);
});

// On narrow screens, where a row is a block of lines, each value has the name of its column before it.
function labelCells() {
  for (const table of document.querySelectorAll("table.table")) {
    const names = Array.from(table.tHead?.rows[0]?.cells ?? [], (cell) => cell.textContent.trim());
    for (const body of table.tBodies) {
      for (const row of body.rows) {
        Array.from(row.cells).forEach((cell, index) => { if (cell.colSpan === 1 && names[index]) cell.dataset.label = names[index]; });
      }
    }
  }
}
document.addEventListener("DOMContentLoaded", labelCells);
document.addEventListener("htmx:afterSettle", labelCells);

// Links and forms with data-swap change the address and morph the page instead of loading it anew.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.href, true);
});

let typing = 0;
function goByForm(form) {
  const fields = [...new FormData(form)].filter(([, value]) => value);
  const query = new URLSearchParams(fields).toString();
  go(form.action + (query ? "?" + query : ""), false);
}
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-swap]");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(goByForm, 150, form);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-swap]")) return;
  event.preventDefault();
  clearTimeout(typing);
  goByForm(event.target);
});

function go(address, adds) {
  if (adds) history.pushState({}, "", address);
  else history.replaceState({}, "", address);
  refresh();
}
window.addEventListener("popstate", refresh);

// What the user opened, typed or selected stays as it is when the page is morphed.
function keepWhatTheUserChanged() {
  if (!window.Idiomorph) return;
  Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) =>
    !(node === document.activeElement && node.matches("input, textarea, select"));
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(name === "open" && (node.tagName === "DETAILS" || node.tagName === "DIALOG"));
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("crossply-theme", root.dataset.theme);
}

document.addEventListener("DOMContentLoaded", () => {
  keepWhatTheUserChanged();
  connect();
  document.getElementById("theme")?.addEventListener("click", toggleTheme);
});

// The keyboard: "/" goes to the filter of the page, arrows move in a tree, Escape closes the drawer.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !typing) {
    const filter = document.querySelector("[data-filter]");
    if (filter) {
      event.preventDefault();
      filter.focus();
      filter.select();
    }
    return;
  }
  if (event.key === "Escape") {
    if (typing) {
      event.target.blur();
    } else {
      document.querySelector("[data-close]")?.click();
    }
    return;
  }
  const item = event.target.closest("[role=treeitem]");
  if (item) moveInTree(event, item);
});

function moveInTree(event, item) {
  const items = [...item.closest("[role=tree]").querySelectorAll("[role=treeitem]")].filter((each) => each.offsetParent);
  const index = items.indexOf(item);
  const level = (each) => Number(each.getAttribute("aria-level"));
  const moves = {
    ArrowDown: () => items[index + 1],
    ArrowUp: () => items[index - 1],
    Home: () => items[0],
    End: () => items[items.length - 1],
    ArrowRight: () => {
      if (item.getAttribute("aria-expanded") === "false") item.querySelector("[data-toggle]")?.click();
      else if (items[index + 1] && level(items[index + 1]) > level(item)) return items[index + 1];
    },
    ArrowLeft: () => {
      if (item.getAttribute("aria-expanded") === "true") item.querySelector("[data-toggle]")?.click();
      else return items.slice(0, index).reverse().find((each) => level(each) < level(item));
    },
    Enter: () => {
      item.querySelector("[data-open]")?.click();
    },
  };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  focusItem(move());
}

function focusItem(item) {
  if (!item) return;
  for (const other of item.closest("[role=tree]").querySelectorAll("[role=treeitem]")) other.tabIndex = -1;
  item.tabIndex = 0;
  item.focus();
}

// Copy buttons: data-copy names the element whose text is copied.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  navigator.clipboard.writeText(source.textContent.trim()).then(() => {
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1200);
  });
});
