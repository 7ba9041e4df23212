"""A page that loads nothing: its styles and scripts are inside, and its policy allows only these."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Final

from overlap_lab.render.html_parts import text

__all__ = ["html_page", "script_hash"]

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{css}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def html_page(title: str, body: Sequence[str], *, styles: Sequence[str], scripts: Sequence[str]) -> str:
    """The page around a body of markup; `styles` and `scripts` name files of this package, used in order.

    The policy allows these very texts by hash and forbids everything else: no fetch, no other script, no
    style in markup, no eval.
    """
    css = "\n".join(map(_resource, styles))
    script = "\n".join(map(_resource, scripts))
    return _PAGE.format(
        policy=_policy(css, script),
        title=text(title),
        css=css,
        body="\n".join(part for part in body if part),
        script=script,
    )


def _resource(name: str) -> str:
    return files("overlap_lab.render").joinpath(name).read_text(encoding="utf-8")


def _policy(css: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src 'sha256-{script_hash(script)}'; "
        f"style-src 'sha256-{script_hash(css)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def script_hash(content: str) -> str:
    """What a page's policy calls a script or style that it allows: its SHA-256, in base64."""
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
