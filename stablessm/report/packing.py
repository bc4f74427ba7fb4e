"""What a page carries and does not show at once: packed, and unpacked by the browser itself when it is wanted.

Browsers unpack gzip without a script of ours (`DecompressionStream`), so that the drawing library and the figures take
a quarter of their size.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

_DROPPED = re.compile(r"<\?xml.*?\?>|<!DOCTYPE[^>]*>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_LONG_NUMBER = re.compile(r"(?<![\w#.])-?\d+\.\d{3,}(?![\w.])")
_SPACE = re.compile(r"\s+")
_PIXELS = 1400
_MIME = {".svg": "image/svg+xml", ".png": "image/png", ".gif": "image/gif", ".wav": "audio/wav"}


def packed(text: str) -> str:
    """Return a text as base64 of gzip, the same for the same text."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def packed_json(value: Any) -> str:
    """Return plain data as base64 of gzip of JSON."""
    return packed(json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False))


def drawing(path: Path) -> str:
    """Return an SVG file without what is not drawn, its numbers to a hundredth of a point.

    Args:
        path: the file.
    """
    text = _DROPPED.sub("", path.read_text(encoding="utf-8"))
    parts = re.split(r'("data:[^"]*")', text)  # pictures within it are left as they are
    short = [one if one.startswith('"data:') else _LONG_NUMBER.sub(_short, one) for one in parts]
    return _SPACE.sub(" ", "".join(short)).replace("> <", "><").strip()


def _short(found: re.Match) -> str:
    """Return a number to a hundredth; a small one, which may scale others, to four digits."""
    value = float(found[0])
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 1 else f"{value:.4g}"


def data_url(path: Path) -> str:
    """Return a file as a data URL.

    Args:
        path: a picture or a wav file.
    """
    return f"data:{_MIME[path.suffix.lower()]};base64,{base64.b64encode(path.read_bytes()).decode()}"


def small_picture(path: Path) -> str:
    """Return a PNG file as the data URL of a smaller one: fewer pixels, 64 colours.

    Args:
        path: the file.
    """
    from PIL import Image  # which Matplotlib stands on

    with Image.open(path) as picture:
        small = picture.convert("RGB")
    small.thumbnail((_PIXELS, _PIXELS))
    held = io.BytesIO()
    small.quantize(64).save(held, "png", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}"


def size_of(path: Path) -> tuple[str, str]:
    """Return width and height of an SVG file as its head says them, ("", "") where it does not."""
    head = path.read_text(encoding="utf-8")[:2000]
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    return found.groups() if found else ("", "")
