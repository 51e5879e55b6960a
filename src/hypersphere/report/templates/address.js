  // What both pages do with their filters and addresses. Each page says first what `apply` does, which claims it filters
  // (`controls`, `wanted`), and which targets a filter hides (`hides`).
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

  const route = () => {
    const hash = location.hash;
    if (hash.startsWith("#?")) {
      fill(hash.slice(2));
      one("#claims").scrollIntoView();
      return;
    }
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) return;
    if (hides(target)) fill("");
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
