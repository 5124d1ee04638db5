"""Colours computed, not trusted: contrast in both themes, and severities in every kind of colour vision."""

import re
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.core.typology import SEVERITIES
from adjudge.reports.html import _style

Vector = NDArray[np.float64]

SHEET = _style()
BLOCKS = dict(
    zip(
        ("light", "dark"),
        (
            dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))
            for block in re.findall(r":root \{(.*?)\}", SHEET, re.DOTALL)
        ),
        strict=False,
    )
)
ENOUGH = 4.5  # contrast of text, WCAG 2.2
FAR = 20.0  # CIELAB distance; 2.3 is just noticeable

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
VISION = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour: str) -> Vector:
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    dark, light = sorted(float(linear(c) @ TO_XYZ[1]) for c in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: Vector) -> Vector:
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_measures_know_their_ends() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.1)


def test_both_themes_name_the_same_colours() -> None:
    assert set(BLOCKS["light"]) == set(BLOCKS["dark"])
    assert {"paper", "ink", "soft", "accent", *SEVERITIES} <= set(BLOCKS["light"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_readable(theme: str) -> None:
    colours = BLOCKS[theme]
    grounds = ["paper", "raised", "accent-tint", *(f"{s}-tint" for s in SEVERITIES)]
    pairs = [("ink", ground) for ground in grounds]
    pairs += [(name, ground) for name in ("soft", "accent") for ground in ("paper", "raised")]
    pairs += [(s, ground) for s in SEVERITIES for ground in ("paper", "raised", f"{s}-tint")]
    pairs += [("soft", "accent-tint")]
    poor = {pair: round(contrast(*(colours[name] for name in pair)), 2) for pair in pairs}
    assert not {pair: ratio for pair, ratio in poor.items() if ratio < ENOUGH}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_severities_differ_in_every_colour_vision(theme: str, vision: str) -> None:
    seen = {s: lab(VISION[vision] @ linear(BLOCKS[theme][s])) for s in SEVERITIES}
    close = {
        (a, b): round(float(np.linalg.norm(seen[a] - seen[b])), 1)
        for a, b in combinations(SEVERITIES, 2)
        if np.linalg.norm(seen[a] - seen[b]) < FAR
    }
    assert not close


def test_a_severity_has_a_line_of_its_own() -> None:
    """So that nothing depends on colour."""
    assert re.search(r"\.span\.minor \{\s*text-decoration-style: dotted", SHEET)
    assert re.search(r"\.span\.critical \{\s*text-decoration-style: double", SHEET)
    assert re.search(r"\.span\.neutral \{\s*text-decoration-thickness: 1px", SHEET)
    assert re.search(r"\.span \{[^}]*underline 2px solid", SHEET)


def test_the_stylesheet_fetches_nothing() -> None:
    assert not re.search(r"url\(|@import|@font-face|https?:", SHEET)
