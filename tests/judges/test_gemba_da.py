from typing import Any

import pytest

from adjudge.core.ask import WordsBesideError
from adjudge.errors import AnswerError
from adjudge.judges.gemba_da import GembaDa, GembaSqm
from tests.judges.asking import Script, load_judge, subject


@pytest.mark.parametrize(
    ("profile", "text", "rating"),
    [
        ("recommended", '{"rating": 87}', 87),
        ("recommended", '<think>100?</think>{"rating": 3}', 3),
        ("paper", "0", 0),
        ("code", " 87\n", 87),
        ("code", "<think>100?</think>\n\n3", 3),
    ],
)
async def test_the_number_is_the_rating(profile: Any, text: str, rating: int) -> None:
    annotation = await GembaDa(profile=profile).annotate(subject(), Script(text))
    assert annotation.rating == rating
    assert (annotation.protocol, annotation.annotator) == ("da-sqm", "gemba-da")
    assert annotation.spans == ()
    assert annotation.flags == (("extracted",) if "think" in text else ())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gemba-da", "- 0: no meaning of the source is preserved\n- 100: the meaning"),
        ("gemba-sqm", "- some of the meaning is preserved\n"),
    ],
)
async def test_each_of_the_two_describes_its_own_scale(name: str, words: str) -> None:
    ask = Script('{"rating": 87}')
    annotation = await load_judge(name).annotate(subject(), ask)
    assert annotation.annotator == name
    assert words in ask.asked[0].words
    digests = {
        made(with_reference=shown).prompts_digest for made in (GembaDa, GembaSqm) for shown in (True, False)
    }
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("profile", "text", "flags"),
    [
        ("recommended", 'My rating: {"rating": 87}', ["extracted"]),
        ("recommended", '"{\\"rating\\": 87}"', ["extracted"]),
        ("recommended", '{"rating": 87.0}', ["normalised"]),
        ("paper", "My rating: 87", ["extracted"]),
        ("paper", '"87"', ["extracted"]),
        ("paper", "87.0", ["normalised"]),
        ("paper", "87%", ["normalised"]),
        ("paper", '{"rating": 87}', ["normalised"]),
        ("paper", "87\nGood.", ["authors_reader", "normalised"]),
    ],
)
@pytest.mark.differs("gemba_da", 3)
async def test_what_stands_around_a_number_is_flagged(profile: Any, text: str, flags: list[str]) -> None:
    made = await GembaDa(profile=profile).annotate(subject(), Script(text))
    assert (made.rating, [*made.flags]) == (87, flags)


@pytest.mark.parametrize("rating", [87, 100])
@pytest.mark.differs("gemba_da", 3)
async def test_words_beside_the_best_rating_are_never_settled_by_a_question(rating: int) -> None:
    with pytest.raises(WordsBesideError) as error:
        await GembaDa().annotate(subject(), Script(f'{{"rating": {rating}}}\nGood.'))
    assert error.value.is_clean == (rating == 100)


@pytest.mark.parametrize(
    ("text", "rating"),
    [("-5", 5), ("I cannot rate because of the 2 languages.", 2), ("Score: 4", 4), ("['100']", 100)],
)
@pytest.mark.differs("gemba_da", 3)
async def test_what_the_original_alone_takes_for_a_rating_is_flagged(text: str, rating: int) -> None:
    made = await GembaDa(profile="code").annotate(subject(), Script(text))
    assert made.rating == rating
    assert "authors_reader" in made.flags
    with pytest.raises(AnswerError):
        await GembaDa().annotate(subject(), Script(text))


@pytest.mark.differs("gemba_da", 2, 4)
async def test_one_question_is_put() -> None:
    ask = Script('{"rating": 87}')
    await GembaDa().annotate(subject(), ask)
    (asked,) = ask.asked
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert "- 100: the meaning and the grammar are perfect" in asked.words
    assert "from English to German" in asked.words
    assert asked.schema is not None
    assert asked.about.facts == {"form": "json", "low": 0, "high": 100}
    assert (asked.about.stage, asked.about.wants) == ("rating", "rating")
    assert (asked.attempts, asked.sampling.temperature) == (2, 0)
    bare = Script("87")
    await GembaDa(profile="paper").annotate(subject(), bare)
    assert bare.asked[0].schema is None
    assert bare.asked[0].about.facts["form"] == "number"
