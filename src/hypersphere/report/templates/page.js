"use strict";
// Search and filters kept in the address (#?kind=theorem&origin=printed), permalinks that unfold, and an order by size of
// discrepancy. The page reads without any of it. Text is set as text, never as markup.
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = one(".filters"), flat = one("#flat"), none = one("#none");
  const controls = all("input, select", form);
  const filters = controls.map((control) => control.name).filter((name) => name !== "text" && name !== "sort");
  const kinds = Object.fromEntries(all("select[name=kind] option").map((option) => [option.value, option.textContent]));
  const boxes = all(".paper, .part, .group").reverse();  // from the inside
  const items = all(".item").map((node, place) => {
    const paper = node.closest(".paper"), group = node.closest(".group"), data = node.dataset;
    const has = { ...data, document: paper.dataset.document, artifact: group ? group.dataset.artifact : "" };
    if (group) one(".say", node).dataset.document = paper.dataset.title;
    return {
      node, place, home: node.parentElement, has, apart: data.apart ? +data.apart : -1,
      about: [node.id, has.document, paper.dataset.title, kinds[has.kind], group ? one("h5", group).textContent : ""].join(" "),
    };
  });
  const claims = items.filter(({ node }) => node.matches(".claim"));
  const others = items.filter(({ node }) => !node.matches(".claim"));

  // Words of a question that say nothing of what is asked.
  const EMPTY = new Set(("a an and are as at be by can did do does for from has have help how in is it its of on or so than that the their there to was "
    + "were what when where which who why will with would").split(" "));
  const plain = (text) => " " + text.toLowerCase().replace(/[-–_\/’'“"”?.,;:()]/g, " ").replace(/\s+/g, " ") + " ";
  const words = (text) => plain(text || "").split(" ").filter((word) => word.length > 1 && !EMPTY.has(word)).map((word) => word.replace(/(..)s$/, "$1"));
  // Short words are found whole, or in the plural; long ones, and the one that is being typed, by how they begin.
  const has = (text, word, last) => text.includes(" " + word + (word.length > 4 || last ? "" : " ")) || text.includes(" " + word + "s ");
  const score = (item, asked) => {
    if (item.text === undefined) item.text = plain(item.about + " " + item.node.textContent);
    return asked.filter((word, at) => has(item.text, word, at === asked.length - 1)).length;
  };

  // Where a claim is unfolded it gets its own address.
  addEventListener("toggle", ({ target }) => {
    if (!target.matches(".claim") || one(".permalink", target)) return;
    const line = document.createElement("p"), name = document.createElement("b"), link = document.createElement("a");
    line.className = "permalink";
    name.textContent = "Permalink";
    link.href = "#" + target.id;
    link.textContent = target.id;
    line.append(name, " ", link);
    one(".card", target).append(line);
  }, true);

  const wanted = () => Object.fromEntries(controls.filter((control) => control.value).map((control) => [control.name, control.value]));

  let sorted = "";
  const arrange = (by) => {
    if (by === sorted) return;
    sorted = by;
    flat.hidden = !by;
    if (by) flat.append(...[...claims].sort((a, b) => b.apart - a.apart || a.place - b.place).map((claim) => claim.node));
    else for (const claim of claims) claim.home.append(claim.node);
  };

  // What has most of the words, if it has half of them or more.
  const best = (listed, asked) => {
    const scored = listed.map((item) => [score(item, asked), item]);
    const most = Math.max(0, ...scored.map(([number]) => number));
    const found = most >= Math.max(1, Math.ceil(asked.length / 2)) ? scored.filter(([number]) => number === most) : [];
    return { most, found: found.map(([, item]) => item) };
  };

  let unfolded = null;  // before the first filter
  const fold = (chosen, hits) => {
    const filtered = Object.keys(chosen).some((name) => name !== "sort");
    if (filtered && !unfolded) unfolded = new Set(boxes.filter((box) => box.open));
    const holding = new Set();
    for (const item of hits) for (let at = item.home; at && !holding.has(at); at = at.parentElement) holding.add(at);
    for (const box of boxes) {
      box.hidden = Boolean(sorted) || (filtered && !holding.has(box));
      if (filtered) box.open = holding.has(box);
      else if (unfolded) box.open = unfolded.has(box);
    }
    if (!filtered) unfolded = null;
  };

  const count = (hits) => {
    for (const counted of all(".count")) {
      const box = counted.closest("details"), mine = claims.filter((claim) => box.contains(claim.home));
      const seen = mine.filter((claim) => hits.has(claim)).length;
      counted.textContent = (seen < mine.length ? seen + " of " : "") + mine.length + (mine.length === 1 ? " claim" : " claims");
    }
  };

  const apply = () => {
    const chosen = wanted(), asked = words(chosen.text);
    const fits = (item) => filters.every((name) => !chosen[name] || (item.has[name] || "").split("|").includes(chosen[name]));
    const [fitting, beside] = [claims, others].map((listed) => listed.filter(fits));
    const { most, found } = asked.length ? best(fitting, asked) : { most: 0, found: fitting };
    const hits = new Set(found), seen = new Set(asked.length ? best(beside, asked).found : beside);
    for (const claim of claims) claim.node.hidden = !hits.has(claim);
    for (const item of others) item.node.hidden = !seen.has(item);
    arrange(chosen.sort || "");
    fold(chosen, [...hits, ...seen]);
    count(hits);
    const partly = asked.length && hits.size && most < asked.length;
    none.hidden = hits.size > 0 && !partly;
    none.textContent = partly ? "No claim has all of these words. Shown: those with " + most + " of " + asked.length + "."
      : hits.size ? "" : "No claim fits. Use fewer words, or show all.";
    one("#matches").textContent = hits.size + " of " + claims.length + " claims";
  };

  form.hidden = false;

  const unfold = (node) => {
    for (let at = node; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };

  const fill = (text) => {
    const given = new URLSearchParams(text);
    for (const control of controls) {
      control.value = given.get(control.name) || "";
      if (control.selectedIndex === -1) control.value = "";
    }
    apply();
  };

  // As browsers find it: a name may hold a % that encodes nothing.
  const named = (part) => {
    const found = document.getElementById(part);
    if (found) return found;
    try { return document.getElementById(decodeURIComponent(part)); } catch { return null; }
  };

  const route = () => {
    const hash = location.hash;
    if (hash.startsWith("#?")) {
      fill(hash.slice(2));
      one("#claims").scrollIntoView();
      return;
    }
    const target = named(hash.slice(1));
    if (!target) return;
    if (target.closest("[hidden]")) fill("");
    unfold(target);
    target.scrollIntoView();
    if (target.matches("details")) one("summary", target).focus({ preventScroll: true });
  };

  const say = () => {
    const text = new URLSearchParams(wanted()).toString();
    history.replaceState(null, "", text ? "#?" + text : location.pathname + location.search);
  };

  form.addEventListener("input", () => { apply(); say(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => { event.preventDefault(); fill(""); say(); });
  addEventListener("hashchange", route);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) route();  // no hashchange where the address stays
  });

  // Headings and targets stay below the filters, whose height depends on the width of the window.
  const measure = () => {
    const sticky = getComputedStyle(form).position === "sticky";
    document.documentElement.style.setProperty("--bar-height", (sticky ? form.offsetHeight : 0) + "px");
  };
  addEventListener("resize", measure);

  measure();
  apply();
  route();
})();
