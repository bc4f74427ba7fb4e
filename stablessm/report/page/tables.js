// Tables: sorted by a button in each heading, exported in the order that is shown.
function textOf(cell) { return cell.dataset.value ?? cell.textContent.trim(); }

function sortTable(heading) {
  const table = heading.closest("table"), body = table.tBodies[0];
  const place = [...heading.parentElement.children].indexOf(heading);
  const order = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  const sign = order === "ascending" ? 1 : -1;
  const key = (row) => textOf(row.cells[place]);
  const number = (text) => (text === "inf" ? Infinity : text === "-inf" ? -Infinity : text.trim() === "" ? NaN : Number(text));
  const rows = [...body.rows];
  const numeric = rows.some((row) => !Number.isNaN(number(key(row)))) && heading.classList.contains("number");
  rows.sort((one, other) => {
    if (!numeric) return sign * key(one).localeCompare(key(other), undefined, { numeric: true });
    const a = number(key(one)), b = number(key(other));
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b); // what is missing stays last
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  });
  for (const one of heading.parentElement.children) one.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", order);
  body.append(...rows);
  say(`sorted by ${heading.dataset.name}, ${order}`);
}

// Names and cells as they are exported: a spread is two columns of its own.
function exported(table) {
  const heads = [...table.tHead.rows[0].cells];
  const spread = (place) => heads[place].dataset.spread !== undefined;
  const names = heads.flatMap((head, place) => {
    const name = head.dataset.name;
    return spread(place) ? [name, `${name}_low`, `${name}_high`] : [name];
  });
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].flatMap((cell, place) =>
    spread(place) ? [textOf(cell), cell.dataset.low ?? "", cell.dataset.high ?? ""] : [textOf(cell)]));
  return { names, rows };
}

function asCsv(table) {
  const { names, rows } = exported(table);
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [names, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}

const LATEX = { "\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}",
  ">": "\\textgreater{}", "|": "\\textbar{}", "∞": "$\\infty$", "–": "--" };
function latexText(text) {
  return [...text.replaceAll("\n", " ")].map((one) => LATEX[one] ?? ("&%$#_{}".includes(one) ? "\\" + one : one)).join("");
}

function latexCell(text) {
  if (text === "nan" || text === "") return "--";
  if (/^-?inf$/.test(text)) return text === "inf" ? "$\\infty$" : "$-\\infty$";
  if (!/^-?\d+(\.\d+)?(e[-+]?\d+)?$/.test(text)) return latexText(text);
  if (/^-?\d{1,6}$/.test(text)) return `$${text}$`;
  const size = Math.abs(Number(text)), short = Number(text).toPrecision(4);
  const [mantissa, exponent] = (size >= 1e6 || (size > 0 && size < 1e-4) ? Number(Number(short)).toExponential() : String(Number(short))).split("e");
  return exponent ? `$${mantissa} \\times 10^{${Number(exponent)}}$` : `$${mantissa}$`;
}

function asLatex(table) {
  const { names, rows } = exported(table);
  const numeric = names.map((_, place) => rows.every((row) => /^(-?[\d.]+(e[-+]?\d+)?|nan|-?inf|)$/.test(row[place])));
  const line = (cells) => cells.join(" & ") + " \\\\";
  return [
    "% needs \\usepackage{booktabs}",
    `% ${(table.caption?.textContent ?? "").trim().replaceAll(/\s+/g, " ")}`,
    `\\begin{tabular}{${numeric.map((one) => (one ? "r" : "l")).join("")}}`,
    "\\toprule", line(names.map(latexText)), "\\midrule",
    ...rows.map((row) => line(row.map(latexCell))), "\\bottomrule", "\\end{tabular}", "",
  ].join("\n");
}

function download(text, name, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`saved ${name}`);
}

function say(text) { document.getElementById("said").textContent = text; }

function equip(table) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = heading.querySelector("button");
    button.addEventListener("click", () => sortTable(heading));
  }
  const name = table.dataset.file;
  const save = (label, write, end, type) => element("button", {
    type: "button", "aria-label": `${label} of the table: ${(table.caption?.textContent ?? name).trim()}`,
    onclick: () => download(write(table), `${name}.${end}`, type),
  }, label);
  const exports = element("div", { class: "exports" },
    save("CSV", asCsv, "csv", "text/csv"), save("LaTeX", asLatex, "tex", "text/x-tex"));
  table.closest(".held").append(exports);
}
