// Everything else is drawn when it comes near the window, or when it is asked for.
const explorers = [];
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("table[data-file]").forEach(equip);
  if (!("DecompressionStream" in window)) {
    document.querySelectorAll(".plot").forEach((one) => { one.textContent = "This browser is too old for the curves and figures; the tables have the numbers."; });
    return;
  }
  const near = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) { near.unobserve(one.target); one.target.explorer.open(); }
  }, { rootMargin: "200px" });
  for (const host of document.querySelectorAll(".explorer")) {
    host.explorer = new Explorer(host);
    explorers.push(host.explorer);
    near.observe(host);
  }
  showFigures();
  const menu = document.querySelector("nav > details");
  menu.open = window.matchMedia("(min-width: 60rem)").matches;
  for (const change of [window.matchMedia("(prefers-color-scheme: dark)"), window.matchMedia("print")])
    change.addEventListener("change", () => explorers.filter((one) => one.cube).forEach((one) => { one.controls(); one.draw(); }));
});
