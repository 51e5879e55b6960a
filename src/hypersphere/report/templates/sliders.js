// Figures with a slider: picks numbers from the page's data, which the studies computed, and draws them. No formula.
(() => {
  const drawn = (name, attributes, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  };
  const made = (name, text = "", kind = "") => {
    const node = document.createElement(name);
    node.textContent = text;
    node.className = kind;
    return node;
  };
  const [width, height, left, right, top, bottom] = [440, 300, 58, 14, 10, 42];
  const signed = (value) => String(value).replace("-", "−");

  const ranged = (label, most, at, tell) => {
    const row = made("label", "", "range"), input = made("input"), output = made("output");
    Object.assign(input, { type: "range", min: 0, max: most, step: 1 });
    input.value = at;
    const told = () => {
      output.textContent = tell(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", told);
    row.append(made("span", label), input, output);
    told();
    return [row, input];
  };

  const plotted = (panel, lines) => {
    const [low, high] = [panel.up[0], panel.up.at(-1)];
    const [from, to] = [Math.min(panel.places[0], panel.across[0]), panel.places.at(-1)];
    const across = (x) => left + ((x - from) / (to - from)) * (width - left - right);
    const up = (y) => height - bottom - ((y - low) / (high - low)) * (height - top - bottom);
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": panel.title });
    for (const y of panel.up) svg.append(
      drawn("line", { x1: left, x2: width - right, y1: up(y), y2: up(y), class: "rule" }),
      drawn("text", { x: left - 6, y: up(y) + 4, class: "end" }, signed(y)),
    );
    for (const x of panel.across)
      svg.append(drawn("text", { x: across(x), y: height - bottom + 16, class: "middle" }, signed(x)));
    svg.append(
      drawn("text", { x: (left + width - right) / 2, y: height - 6, class: "middle" }, panel.x),
      drawn("text", { x: -(top + height - bottom) / 2, y: 12, transform: "rotate(-90)", class: "middle" }, panel.y),
    );
    const mark = drawn("line", { y1: top, y2: height - bottom, class: "mark" });
    const paths = lines.map((_, line) => drawn("polyline", { class: "line" + line }));
    const dots = lines.map((_, line) => drawn("circle", { r: 4, class: "dot" + line }));
    svg.append(mark, ...paths, ...dots);
    return [svg, (stop, place) => {
      const x = across(panel.places[place]);
      mark.setAttribute("x1", x);
      mark.setAttribute("x2", x);
      lines.forEach((_, line) => {
        const values = panel.values[line][stop];
        paths[line].setAttribute("points", values.map((y, at) => `${across(panel.places[at]).toFixed(1)},${up(y).toFixed(1)}`).join(" "));
        dots[line].setAttribute("cx", x);
        dots[line].setAttribute("cy", up(values[place]));
      });
    }];
  };

  for (const box of document.querySelectorAll(".slider")) {
    const data = JSON.parse(box.querySelector("script").textContent);
    const [setting, chosen] = ranged(data.setting, data.stops.length - 1, data.first, (at) => data.stops[at]);
    const shown = made("div", "", "panels");
    const redraw = data.panels.map((panel) => {
      const [svg, draw] = plotted(panel, data.lines), part = made("div", "", "panel"), values = made("p", "", "values");
      const [place, where] = ranged(panel.x, panel.places.length - 1, panel.places.indexOf(panel.at), (at) => panel.places[at]);
      const cells = data.lines.map((line, at) => {
        const item = made("span", line + " ", "key" + at), value = made("b");
        item.append(value);
        return [item, value];
      });
      values.append(...cells.map(([item]) => item));
      part.append(made("h5", panel.title), svg, place, values);
      shown.append(part);
      const update = () => {
        const stop = Number(chosen.value), at = Number(where.value);
        draw(stop, at);
        cells.forEach(([, value], line) => { value.textContent = panel.values[line][stop][at]; });
      };
      where.addEventListener("input", update);
      return update;
    });
    const update = () => { for (const each of redraw) each(); };
    chosen.addEventListener("input", update);
    setting.classList.add("setting");
    box.append(setting, shown);
    update();
    box.hidden = false;
    box.closest(".shown").classList.add("moves");
  }
})();
