"""docs/models.md says what the table says."""

from collections.abc import Iterator
from pathlib import Path

from adjudge.llm.providers import PROVIDERS, ROOM, Provider

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
DIALECTS = {
    "chat": "OpenAI's chat",
    "anthropic": "Anthropic's Messages",
    "gemini": "Gemini's generateContent",
}


def facts(row: Provider) -> str:
    """One row of the first table."""
    key = f"`{row.key_env}`" + ("" if row.needs_key else " if it wants one")
    cells = (
        f"`{row.name}/NAME`",
        f"`{row.base_url}`",
        key,
        DIALECTS[row.dialect],
        *("yes" if has else "no" for has in (row.schema, row.logprobs, bool(row.seed))),
        f"`{row.cached}`",
        row.checked,
    )
    return "| " + " | ".join(cells) + " |"


def patterns(row: Provider) -> Iterator[str]:
    """What is said of the names of a provider's models."""
    said = {
        "think by themselves": row.thinks,
        "take no temperature": row.fixed_temperature,
        "take `--effort`": row.effort,
        "take no tools": row.no_tools,
    }
    grouped: dict[str, list[str]] = {}
    for words, pattern in said.items():
        if pattern:
            grouped.setdefault(pattern, []).append(words)
    for pattern, names in grouped.items():
        yield f"- `{row.name}`: {', '.join(names)}: `{pattern}`"


def test_every_server_stands_on_the_page_with_what_it_can_do() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `") and "/NAME`" in line]
    assert rows == [facts(row) for row in PROVIDERS.values()]


def test_every_pattern_of_names_stands_on_the_page() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("- `") and ": `" in line]
    assert lines == [line for row in PROVIDERS.values() for line in patterns(row)]


def test_the_room_for_thinking_stands_on_the_page() -> None:
    for effort, tokens in ROOM.items():
        assert f"| `{effort}` | {tokens:,} |" in PAGE


def test_every_fact_has_a_date() -> None:
    assert {row.checked for row in PROVIDERS.values()} == {"2026-11"}
