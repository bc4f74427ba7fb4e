// What the page carries packed, by the id of its script element.
async function unpacked(id) {
  const held = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(held, (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((one) => one !== null));
  return made;
}

let drawingLibrary = null;
function plotly() {
  drawingLibrary ??= unpacked("plotly").then((text) => {
    document.head.append(element("script", {}, text));
    return window.Plotly;
  });
  return drawingLibrary;
}

// Figures: those in view at once, the others when the browser has nothing else to do, so that a print has them all.
function showFigures() {
  const waiting = [...document.querySelectorAll("img[data-packed]")];
  const show = async (image) => {
    const id = image.dataset.packed;
    if (!id) return;
    delete image.dataset.packed;
    image.src = URL.createObjectURL(new Blob([await unpacked(id)], { type: "image/svg+xml" }));
    await image.decode().catch(() => {});
  };
  const near = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) { near.unobserve(one.target); show(one.target); }
  }, { rootMargin: "800px" });
  waiting.forEach((one) => near.observe(one));
  const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 50));
  const next = async () => {
    const image = waiting.shift();
    if (!image) { document.documentElement.dataset.figures = "ready"; return; }
    await show(image);
    idle(next, { timeout: 500 });
  };
  idle(next, { timeout: 500 });
}
