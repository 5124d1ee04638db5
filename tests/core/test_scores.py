import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.core.scores import Signature

LINE = "m-mad|model:openai/gpt-x|prompts:3fa19c|weights:mqm-google|failed:3/4200|version:0.3.0"


def test_a_signature_is_one_line_in_sacrebleu_s_form() -> None:
    signature = Signature("m-mad", {"model": "openai/gpt-x", "rounds": "3", "version": "0.3.0"})
    assert str(signature) == "m-mad|model:openai/gpt-x|rounds:3|version:0.3.0"


def test_a_signature_reads_its_own_line() -> None:
    assert str(Signature.read(LINE)) == LINE


names = st.text(min_size=1, max_size=20)
keys = st.text("abcdefghijklmnopqrstuvwxyz-_", min_size=1, max_size=10)


@example("%7C", {"model": "100%0A|%25\n"})
@given(names, st.dictionaries(keys, st.text(max_size=30), max_size=5))
def test_any_value_survives_the_line(name: str, fields: dict[str, str]) -> None:
    line = str(Signature(name, fields))
    assert "\n" not in line
    assert Signature.read(line) == Signature(name, fields)


def test_a_bar_in_a_value_cannot_pretend_to_be_a_field() -> None:
    signature = Signature("a|weights:none", {"model": "x|failed:0/1"})
    assert Signature.read(str(signature)).fields == {"model": "x|failed:0/1"}


def test_new_fields_stand_before_the_version_and_old_ones_keep_their_place() -> None:
    signature = Signature.read(LINE).with_fields(weights="gemba", level="corpus")
    assert list(signature.fields) == ["model", "prompts", "weights", "failed", "level", "version"]
    assert signature.fields["weights"] == "gemba"


@pytest.mark.parametrize(
    ("change", "comparable"),
    [
        ({"failed": "0/4200"}, True),
        ({"weights": "gemba"}, False),
        ({"version": "0.4.0"}, False),
        ({"seed": "1"}, False),
    ],
)
def test_scores_are_comparable_where_all_but_the_failures_is_equal(
    change: dict[str, str], comparable: bool
) -> None:
    signature = Signature.read(LINE)
    assert signature.is_comparable_with(signature.with_fields(**change)) is comparable
