"""What is costly rests ten times as long as it took."""

from adjudge.campaigns.dashboard import Resting
from tests.campaigns.conftest import MakeCampaign


def test_what_took_long_is_made_again_later(make_campaign: MakeCampaign) -> None:
    (one, _), (other, _) = make_campaign(), make_campaign()
    work, made = [0.0], []

    def make(campaign: object, now: float) -> float:
        work[0] += 3
        made.append((campaign, now))
        return now

    resting = Resting(make, lambda: work[0])
    assert resting.of(one, 100) == resting.of(one, 100) == 100
    assert resting.of(other, 100) == 100, "each campaign has its own"
    assert resting.of(one, 101) == 101, "the first one counts as nothing: it imports libraries"
    assert [resting.of(one, now) for now in (102, 131)] == [101, 101]
    assert resting.of(one, 132) == 132
    assert resting.of(one, 50) == 50, "a clock that was set back keeps nothing for ever"
    assert made == [(one, 100), (other, 100), (one, 101), (one, 132), (one, 50)]
