"use strict";
// Filters kept in the address (#?document=margins&verdict=refuted), and permalinks that unfold. The page reads without
// any of it. Text is set as text, never as markup.
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = one(".filters"), flat = one("#flat"), matches = one("#matches"), elsewhere = one("#elsewhere");
  const controls = all("input, select", form);
  const claims = all(".claim").map((node, place) => {
    const section = node.closest(".document");
    const says = one(".say", node);
    says.dataset.document = section.dataset.title;
    return {
      node, place, home: node.parentNode, text: "", says: says.textContent,
      document: section.dataset.document, artifact: section.dataset.document + "/" + node.closest(".group").dataset.artifact,
      verdict: one(".badge", node).textContent, direction: node.dataset.direction, kind: node.dataset.kind || "encoder", origin: node.dataset.origin || "printed",
    };
  });
  const verdicts = [...form.elements.verdict.options].map((option) => option.value);

  // Where a claim is unfolded its group's links may be out of sight, so it gets a copy, and its own address.
  addEventListener("toggle", (event) => {
    const node = event.target, claim = claims.find((each) => each.node === node);
    if (!claim || one(".evidence", node)) return;
    const copy = one(".evidence", claim.home).cloneNode(true);
    copy.classList.remove("small");
    const line = document.createElement("p"), name = document.createElement("b"), link = document.createElement("a");
    name.textContent = "Permalink";
    link.href = "#" + node.id;
    link.textContent = node.id;
    line.append(name, " ", link);
    one(".proof", node).append(copy, line);
  }, true);

  const wordsOf = (filters) => (filters.text || "").toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = () => Object.fromEntries(controls.filter((c) => c.value).map((c) => [c.name, c.value]));

  const chosen = (filters) => {
    const words = wordsOf(filters);
    return (claim) => {
      for (const name of ["document", "artifact", "kind", "origin"])
        if (filters[name] && claim[name] !== filters[name]) return false;
      if (filters.verdict && ![claim.verdict, claim.direction].includes(filters.verdict)) return false;
      if (!words.length) return true;
      if (!claim.text) claim.text = (claim.node.id + " " + claim.says + " " + claim.node.textContent).toLowerCase();
      return words.every((word) => claim.text.includes(word));
    };
  };

  const orders = {
    verdict: (a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict) || a.place - b.place,
    claim: (a, b) => a.says.localeCompare(b.says, "en") || a.place - b.place,
  };

  let sorted = "";
  const arrange = (by) => {
    if (by === sorted) return;
    sorted = by;
    flat.hidden = !by;
    if (by) flat.append(...[...claims].sort(orders[by]).map((claim) => claim.node));
    else for (const claim of claims) claim.home.append(claim.node);
  };

  const apply = () => {
    const filters = wanted(), fits = chosen(filters);
    const filtered = Object.keys(filters).some((name) => name !== "sort");
    let shown = 0;
    for (const claim of claims) {
      const visible = fits(claim);
      claim.node.hidden = !visible;
      shown += visible;
    }
    arrange(filters.sort || "");
    for (const box of [...all(".document .group"), ...all(".idle"), ...all(".document")]) box.hidden = !one(".claim:not([hidden])", box);
    for (const box of all(".idle")) box.open = filtered && !box.hidden;
    for (const count of all(".idle-count")) {
      const every = all(".claim", count.closest(".idle")), left = every.filter((node) => !node.hidden).length;
      count.textContent = (left < every.length ? left + " of " : "") + every.length + (every.length === 1 ? " claim" : " claims");
    }
    matches.textContent = shown ? shown + " of " + claims.length + " claims" : "No claim fits. Show all clears the filters.";
    lookElsewhere(wordsOf(filters));
  };

  // Errata, tables and figures that have all the words of the search, as links.
  const others = all(".erratum, .shown, tr[id]").map((node) => ({ node, text: node.textContent.toLowerCase() }));
  const lookElsewhere = (words) => {
    const found = words.length ? others.filter((other) => words.every((word) => other.text.includes(word))) : [];
    elsewhere.hidden = !found.length;
    elsewhere.replaceChildren("Also " + found.length + " of the errata, tables and figures: ");
    for (const { node } of found) {
      const link = document.createElement("a");
      link.href = "#" + node.id;
      link.textContent = one("h4, summary b, td", node).textContent;
      elsewhere.append(link, " · ");
    }
  };

  const hides = (target) => target.classList.contains("claim") && target.hidden;

  form.hidden = false;

  // On paper nothing can be unfolded: lists are open but for what was not run and the runs; claims stay lines.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details.block:not([open], .idle)");
    for (const box of folded) box.open = true;
  });
  addEventListener("afterprint", () => { for (const box of folded) box.open = false; });

{% include "address.js" %}

  measure();
  apply();
  route();
})();
