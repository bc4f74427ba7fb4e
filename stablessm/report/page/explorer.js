// Curves: what is drawn, along which axis, at which value of every other one, is chosen by the reader.
const SHADES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#44AA99", "#332288", "#999933", "#7F7F7F", "#8C564B", "#AA4499", "#661100"];
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "hexagon", "pentagon", "star"];
const DASHES = ["solid", "dash", "dashdot", "dot", "longdash"];
const RANK = { step_limit: 1, converged: 0, collapsed: 2, diverged: 3, nonfinite: 4, outside_domain: 5 };

function isDark() { return !window.matchMedia("print").matches && window.matchMedia("(prefers-color-scheme: dark)").matches; }
function ink(name) { return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(); }

// A colour made for white paper, made lighter where it would drown on a dark ground.
function seen(colour) {
  if (!isDark()) return colour;
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const light = (0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2]) / 255;
  const lift = light < 0.1 ? 0.85 : light < 0.45 ? (0.62 - light) / (1 - light) : 0;
  return "#" + parts.map((one) => Math.round(one + lift * (255 - one)).toString(16).padStart(2, "0")).join("");
}
function see(colour, opacity) {
  return `rgba(${[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)).join(",")},${opacity})`;
}
function words(name) { return String(name).replaceAll("_", " "); }
function shown(value) { return typeof value === "number" ? String(Number(value.toPrecision(4))) : words(value); }

class Explorer {
  constructor(host) {
    this.host = host;
    this.off = new Set();
    this.ready = new Promise((resolve) => { this.resolve = resolve; });
  }

  async open() {
    if (this.opened) return this.ready;
    this.opened = true;
    this.cubes = JSON.parse(await unpacked(this.host.dataset.curves));
    this.plotly = await plotly();
    this.build();
    this.choose(0, 0);
    await this.draw();
    this.host.dataset.drawn = "yes";
    this.resolve();
    return this.ready;
  }

  build() {
    const id = this.host.dataset.curves;
    this.which = element("select", { id: `${id}-variable`, onchange: () => {
      this.choose(...this.which.value.split(" ").map(Number));
      this.draw();
    } });
    this.cubes.forEach((cube, place) => this.which.append(element("optgroup", { label: cube.label },
      ...cube.variables.map((one, at) => element("option", { value: `${place} ${at}` }, one.label)))));
    this.axes = element("div", { class: "choices" });
    this.curves = element("div", { class: "choices", role: "group", "aria-label": "curves shown" });
    this.scales = element("div", { class: "choices" });
    this.plot = this.host.querySelector(".plot");
    this.plot.classList.remove("waiting");
    this.plot.textContent = "";
    this.note = this.host.querySelector(".note");
    this.table = element("div", { class: "held", hidden: true });
    this.plot.before(
      element("div", { class: "choices" }, element("label", { style: "flex: 1 1 14rem" }, "what is drawn", this.which)),
      this.axes, this.curves, this.scales);
    this.note.after(this.table);
  }

  choose(place, at) {
    this.cube = this.cubes[place];
    this.variable = this.cube.variables[at];
    this.which.value = `${place} ${at}`;
    const { dims, x, traces } = this.variable;
    this.x = x;
    this.traces = traces;
    this.at = {};
    for (const name of dims) {
      const { values, numeric } = this.cube.dims[name];
      const middle = name.startsWith("quantile") ? values.indexOf(0.5) : numeric ? Math.floor((values.length - 1) / 2) : 0;
      this.at[name] = Math.max(0, middle);
    }
    this.logs = { x: this.cube.dims[x].log, y: this.variable.log };
    this.ranges = "low" in this.variable;
    this.controls();
  }

  controls() {
    const id = this.host.dataset.curves;
    const { dims } = this.variable, every = this.cube.dims;
    const select = (name, label, options, value, change) => element("label", {}, label, element("select", {
      id: `${id}-${name.replace(/\W/g, "-")}`, onchange: (event) => { change(event.target.value); this.draw(); },
    }, ...options.map(([key, text]) => element("option", { value: key, selected: String(key) === String(value) }, text))));
    const free = dims.filter((name) => name !== this.x && name !== this.traces);
    const named = (names) => names.map((name) => [name, every[name].label]);
    this.axes.replaceChildren(
      ...(dims.length > 1 ? [
        select("along", "along x", named(dims), this.x, (name) => {
          if (name === this.traces) this.traces = this.x;
          this.x = name;
          this.logs.x = every[name].log;
          this.controls();
        }),
        select("apart", "one curve for each", named(dims.filter((name) => name !== this.x)), this.traces,
          (name) => { this.traces = name; this.controls(); })] : []),
      ...free.map((name) => select(`at-${name}`, every[name].label, every[name].values.map((one, at) => [at, shown(one)]),
        this.at[name], (at) => { this.at[name] = Number(at); })));
    const labels = this.traces ? every[this.traces].values : [];
    this.curves.replaceChildren(...("flags" in this.variable ? [] : labels.map((label, place) => this.toggle(label, place))));
    const flags = "flags" in this.variable;
    const tick = (name, label, checked, change) => element("label", { class: "tick" }, element("input", {
      type: "checkbox", id: `${id}-${name}`, checked, onchange: (event) => { change(event.target.checked); this.draw(); },
    }), label);
    const zoom = (factor) => this.zoom(factor);
    this.scales.replaceChildren(
      every[this.x].numeric && !flags ? tick("log-x", "log x", this.logs.x, (on) => { this.logs.x = on; }) : "",
      flags ? "" : tick("log-y", "log y", this.logs.y, (on) => { this.logs.y = on; }),
      "low" in this.variable ? tick("ranges", "ranges", this.ranges, (on) => { this.ranges = on; }) : "",
      element("button", { type: "button", "aria-label": "zoom in", onclick: () => zoom(0.5) }, "+"),
      element("button", { type: "button", "aria-label": "zoom out", onclick: () => zoom(2) }, "−"),
      element("button", { type: "button", onclick: () => this.zoom(0) }, "whole"),
      element("button", { type: "button", class: "as-table", "aria-expanded": String(!this.table.hidden), onclick: () => {
        this.table.hidden = !this.table.hidden;
        this.scales.querySelector(".as-table").setAttribute("aria-expanded", String(!this.table.hidden));
        this.tabulate();
      } }, "as a table"));
  }

  toggle(label, place) {
    const look = this.look(label, place);
    const swatch = `<svg width="26" height="10" aria-hidden="true"><line x1="1" y1="5" x2="25" y2="5" stroke="${look.color}" stroke-width="2.5" stroke-dasharray="${{ solid: "", dash: "6 3", dot: "2 3", dashdot: "6 3 2 3", longdash: "9 4" }[look.dash] ?? look.dash}"/></svg>`;
    const button = element("button", { type: "button", class: "curve", "aria-pressed": String(!this.off.has(String(label))),
      onclick: () => {
        const key = String(label);
        if (this.off.has(key)) this.off.delete(key); else this.off.add(key);
        button.setAttribute("aria-pressed", String(!this.off.has(key)));
        this.draw();
      } });
    button.innerHTML = swatch;
    button.append(shown(label));
    return button;
  }

  look(label, place) {
    const own = this.cube.looks[String(label)];
    const base = own ?? { color: SHADES[place % SHADES.length], dash: DASHES[place % DASHES.length], symbol: SYMBOLS[place % SYMBOLS.length] };
    return { ...base, color: seen(base.color) };
  }

  // Values of one curve along x, of `values`, `low` or `high`.
  slice(kind, trace) {
    const { dims } = this.variable, flat = this.variable[kind];
    const sizes = dims.map((name) => this.cube.dims[name].values.length);
    const strides = sizes.map((_, at) => sizes.slice(at + 1).reduce((a, b) => a * b, 1));
    const start = dims.reduce((sum, name, at) => sum + strides[at] * (name === this.x ? 0 : name === this.traces ? trace : this.at[name]), 0);
    const step = strides[dims.indexOf(this.x)];
    return this.cube.dims[this.x].values.map((_, at) => flat[start + at * step]);
  }

  shownCurves() {
    const labels = this.traces ? this.cube.dims[this.traces].values : [""];
    return labels.map((label, place) => [label, place]).filter(([label]) => "flags" in this.variable || !this.off.has(String(label)));
  }

  data() {
    const axis = this.cube.dims[this.x], few = axis.values.length <= 30;
    const along = axis.numeric ? axis.values : axis.values.map(words);
    const drawn = [];
    let missing = 0;
    for (const [label, place] of this.shownCurves()) {
      const look = this.look(label, place);
      let y = this.slice("values", place);
      const bad = y.filter((one, at) => one === null || (this.logs.y && one <= 0) || (this.logs.x && along[at] <= 0)).length;
      missing += bad;
      const fit = (values) => values.map((one) => (one !== null && this.logs.y && one <= 0 ? null : one));
      y = fit(y);
      const ranged = this.ranges && "low" in this.variable;
      const [low, high] = ranged ? [fit(this.slice("low", place)), fit(this.slice("high", place))] : [[], []];
      if (ranged && axis.numeric) {
        const kept = along.map((one, at) => at).filter((at) => low[at] !== null && high[at] !== null);
        drawn.push({ x: [...kept.map((at) => along[at]), ...kept.map((at) => along[at]).reverse()],
          y: [...kept.map((at) => high[at]), ...kept.map((at) => low[at]).reverse()],
          fill: "toself", fillcolor: see(look.color, 0.14), line: { width: 0 }, mode: "lines", hoverinfo: "skip", showlegend: false });
      }
      drawn.push({ x: along, y, name: shown(label), mode: axis.numeric ? (few ? "lines+markers" : "lines") : "markers",
        line: { color: look.color, dash: look.dash, width: 2 }, marker: { color: look.color, symbol: look.symbol, size: axis.numeric ? 7 : 10 },
        ...(ranged && !axis.numeric ? { error_y: { type: "data", symmetric: false, color: look.color,
          array: high.map((one, at) => (one === null || y[at] === null ? 0 : one - y[at])), arrayminus: low.map((one, at) => (one === null || y[at] === null ? 0 : y[at] - one)) } } : {}),
        hovertemplate: `${this.traces ? `<b>${shown(label).replaceAll("<", "&lt;")}</b><br>` : ""}%{x:.4~g}: %{y:.4~g}<extra></extra>`.replace("%{x:.4~g}", axis.numeric ? "%{x:.4~g}" : "%{x}") });
    }
    return { drawn, missing };
  }

  // A code (an outcome, say) as a map of colours.
  flagged() {
    const { flags } = this.variable, axis = this.cube.dims[this.x];
    const codes = Object.keys(flags).sort((a, b) => (RANK[flags[a]] ?? 9) - (RANK[flags[b]] ?? 9));
    const colour = (code, at) => this.cube.outcomes[flags[code]] ?? SHADES[at % SHADES.length];
    const labels = this.shownCurves();
    const rows = labels.map(([, place]) => this.slice("values", place));
    const z = rows.map((row) => row.map((one) => (one === null ? null : codes.indexOf(String(one)))));
    const scale = codes.flatMap((code, at) => [[at / codes.length, colour(code, at)], [(at + 1) / codes.length, colour(code, at)]]);
    return { drawn: [{ type: "heatmap", x: axis.values.map(shown), y: labels.map(([label]) => shown(label)), z, zmin: -0.5, zmax: codes.length - 0.5,
      colorscale: scale, xgap: 1, ygap: 1, hovertemplate: "<b>%{y}</b><br>%{x}: %{text}<extra></extra>",
      text: rows.map((row) => row.map((one) => (one === null ? "none" : words(flags[one])))),
      colorbar: { tickvals: codes.map((_, at) => at), ticktext: codes.map((code) => words(flags[code])), thickness: 14, outlinewidth: 0 } }], missing: 0 };
  }

  async draw() {
    const flags = "flags" in this.variable, axis = this.cube.dims[this.x];
    const { drawn, missing } = flags ? this.flagged() : this.data();
    const line = { gridcolor: ink("plot-grid"), zeroline: false, linecolor: ink("line"), automargin: true, exponentformat: "power", nticks: 7 };
    const title = (text) => ({ text: text.length > 52 ? text.slice(0, 51) + "…" : text, standoff: 8 });
    const narrow = this.plot.clientWidth < 480;
    await this.plotly.react(this.plot, drawn, {
      margin: { l: narrow ? 52 : 64, r: 12, t: 12, b: 48 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink("ink"), family: "system-ui, sans-serif", size: 12.5 }, showlegend: false, hovermode: "closest", dragmode: "zoom",
      hoverlabel: { bgcolor: ink("paper"), bordercolor: ink("line"), font: { color: ink("ink") } },
      xaxis: { ...line, title: title(axis.label), type: flags || !axis.numeric ? "category" : this.logs.x ? "log" : "linear" },
      yaxis: { ...line, title: title(this.variable.label.split(",")[0]), type: flags ? "category" : this.logs.y ? "log" : "linear", ...(flags ? { autorange: "reversed" } : {}) },
    }, { responsive: true, displaylogo: false, displayModeBar: narrow ? false : "hover", scrollZoom: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
    const names = this.shownCurves().map(([label]) => shown(label)).filter(Boolean).join(", ");
    this.plot.setAttribute("aria-label", `Chart: ${this.variable.label} by ${axis.label}${names ? `, for ${names}` : ""}. The numbers: button “as a table”.`);
    this.note.textContent = [this.cube.fixed, missing ? `${missing} values that are missing, not finite or not positive are not drawn` : ""].filter(Boolean).join("; ");
    this.tabulate();
  }

  zoom(factor) {
    const whole = { "xaxis.autorange": true, "yaxis.autorange": "flags" in this.variable ? "reversed" : true };
    if (!factor) return this.plotly.relayout(this.plot, whole);
    const change = {};
    for (const name of ["xaxis", "yaxis"]) {
      const [low, high] = this.plot._fullLayout[name].range, middle = (low + high) / 2, half = (factor * (high - low)) / 2;
      change[`${name}.range`] = [middle - half, middle + half];
    }
    return this.plotly.relayout(this.plot, change);
  }

  tabulate() {
    if (this.table.hidden) return;
    const axis = this.cube.dims[this.x], { flags } = this.variable;
    const curves = this.shownCurves(), columns = curves.map(([, place]) => this.slice("values", place));
    const head = (name, numeric) => element("th", { scope: "col", "data-name": name, class: numeric && "number", "aria-sort": "none" },
      element("button", { type: "button" }, words(name)));
    const name = (label) => (this.traces ? shown(label) : this.variable.name);
    const value = (one) => (flags ? words(flags[one] ?? "none") : one === null ? "–" : shown(one));
    const table = element("table", { "data-file": `${this.host.dataset.name}.${this.variable.name}` },
      element("caption", {}, `${this.variable.label} by ${axis.label}`),
      element("thead", {}, element("tr", {}, head(this.x.split(":")[0], axis.numeric), ...curves.map(([label]) => head(name(label), !flags)))),
      element("tbody", {}, ...axis.values.map((along, at) => element("tr", {},
        element("th", { scope: "row", class: axis.numeric && "number", "data-value": along }, shown(along)),
        ...columns.map((column) => element("td", { class: !flags && "number", "data-value": flags ? value(column[at]) : column[at] ?? "nan" }, value(column[at])))))));
    this.table.replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "values of the curves" }, table));
    equip(table);
  }
}
