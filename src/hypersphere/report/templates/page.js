"use strict";
// Search and filters kept in the address (#?kind=theorem&origin=printed), permalinks that unfold, and in the report an
// order by size of discrepancy. The page reads without any of it. Text is set as text, never as markup.
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = one(".filters"), flat = one("#flat"), none = one("#none"), also = one("#also");
  const controls = all("input, select", form);
  const filters = controls.map((control) => control.name).filter((name) => name !== "text" && name !== "sort");
  const kinds = Object.fromEntries(all("select[name=kind] option").map((option) => [option.value, option.textContent]));
  const claims = all(".claim").map((node, place) => {
    const section = node.closest(".document"), group = node.closest(".group"), data = node.dataset;
    one(".say", node).dataset.document = section.dataset.title;
    const has = { ...data, document: section.dataset.document, artifact: group.dataset.artifact };
    return {
      node, place, home: group, has, apart: data.apart ? +data.apart : -1,
      about: [node.id, has.document, section.dataset.title, kinds[has.kind], has.answer || has.verdict, one("h4", group).textContent].join(" "),
    };
  });
  const others = all(".question, .erratum, .shown, tr[id], section[aria-labelledby=settle]").map((node) => ({
    node, about: node.textContent, link: node.id || "settle",
    name: node.matches(".erratum") ? "Erratum " + one("b", node).textContent : one("h4, h2, td", node).textContent,
    says: node.matches(".erratum") ? one(".second", node).textContent : node.matches(".question") ? one("p", node).textContent : "",
  }));

  // Words of a question that say nothing of what is asked.
  const EMPTY = new Set(("a an and are as at be by can did do does for from has have help how in is it its of on or so than that the their there to was "
    + "were what when where which who why will with would").split(" "));
  const plain = (text) => " " + text.toLowerCase().replace(/[-–_\/’'"“”?.,;:()]/g, " ").replace(/\s+/g, " ") + " ";
  const words = (text) => plain(text || "").split(" ").filter((word) => word.length > 1 && !EMPTY.has(word)).map((word) => word.replace(/(..)s$/, "$1"));
  // Short words are found whole, or in the plural; long ones, and the one that is being typed, by how they begin.
  const has = (text, word, last) => text.includes(" " + word + (word.length > 4 || last ? "" : " ")) || text.includes(" " + word + "s ");
  const score = (item, wanted) => {
    if (item.text === undefined) item.text = plain(item.about + " " + item.node.textContent);
    return wanted.filter((word, at) => has(item.text, word, at === wanted.length - 1)).length;
  };

  // Where a claim is unfolded its table's links may be out of sight, so it gets a copy, and its own address.
  addEventListener("toggle", (event) => {
    const node = event.target;
    if (!node.matches(".claim") || one(".permalink", node)) return;
    const copy = one(".evidence", claims.find((each) => each.node === node).home).cloneNode(true);
    copy.classList.remove("small");
    const line = document.createElement("p"), name = document.createElement("b"), link = document.createElement("a");
    line.className = "permalink";
    name.textContent = "Permalink";
    link.href = "#" + node.id;
    link.textContent = node.id;
    line.append(name, " ", link);
    one(".proof", node).append(copy, line);
  }, true);

  const wanted = () => Object.fromEntries(controls.filter((c) => c.value).map((c) => [c.name, c.value]));

  let sorted = "";
  const arrange = (by) => {
    if (by === sorted) return;
    sorted = by;
    flat.hidden = !by;
    if (by) flat.append(...[...claims].sort((a, b) => b.apart - a.apart || a.place - b.place).map((claim) => claim.node));
    else for (const claim of claims) claim.home.append(claim.node);
  };

  const links = (listed) => {
    also.replaceChildren(...listed.map((item) => {
      const line = document.createElement("li"), link = document.createElement("a");
      link.href = "#" + item.link;
      link.textContent = item.name;
      line.append(link, " ", item.says);
      return line;
    }));
    also.hidden = !listed.length;
  };

  const apply = () => {
    const chosen = wanted(), asked = words(chosen.text);
    const fitting = claims.filter(({ has }) => filters.every((name) => !chosen[name] || has[name].split("|").includes(chosen[name])));
    const most = asked.length ? Math.max(0, ...fitting.map((claim) => score(claim, asked))) : 0;
    const enough = Math.max(1, Math.ceil(asked.length / 2));
    const hits = new Set(asked.length ? (most >= enough ? fitting.filter((claim) => score(claim, asked) === most) : []) : fitting);
    for (const claim of claims) claim.node.hidden = !hits.has(claim);
    arrange(chosen.sort || "");
    for (const box of all(".document .group, .idle, .document")) box.hidden = Boolean(sorted) || !one(".claim:not([hidden])", box);
    for (const box of all(".idle")) box.open = Object.keys(chosen).length > 0 && !box.hidden;
    for (const count of all(".count")) {
      const box = count.closest(".idle, .document"), mine = claims.filter((claim) => box.contains(claim.home));
      const seen = mine.filter((claim) => hits.has(claim)).length;
      count.textContent = (seen < mine.length ? seen + " of " : "") + mine.length + (mine.length === 1 ? " claim" : " claims");
    }
    one(".head").hidden = !hits.size;
    const scored = asked.length ? others.map((item) => [score(item, asked), item]) : [];
    const best = Math.max(0, ...scored.map(([hit]) => hit));
    const named = (item) => score({ about: item.name, node: { textContent: "" } }, asked);
    const found = scored.filter(([hit]) => hit === best).map(([, item]) => item).sort((a, b) => named(b) - named(a));
    links(best >= enough ? found.slice(0, 6) : []);
    const partly = asked.length && hits.size && most < asked.length;
    none.hidden = hits.size > 0 && !partly;
    none.textContent = partly ? "No claim has all of these words. Shown: those with " + most + " of " + asked.length + "."
      : hits.size ? "" : "No claim fits. Use fewer words, or show all.";
    one("#matches").textContent = hits.size + " of " + claims.length + " claims";
  };

  // On paper nothing can be unfolded: lists are open but for what was not run; claims stay lines.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details.block:not([open], .idle)");
    for (const box of folded) box.open = true;
  });
  addEventListener("afterprint", () => { for (const box of folded) box.open = false; });

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
    if (target.closest("[hidden]") || (sorted && target.matches(".group"))) fill("");
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
    if (link && link.getAttribute("href") === location.hash) route(); // no hashchange where the address stays
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
