"""Links, sessions and passwords: who is let in, for how long, and who is not."""

import pytest
from sqlalchemy import func, select

from adjudge.campaigns import database, people
from adjudge.campaigns.database import Campaign
from adjudge.campaigns.people import IDLE, LONGEST, Link
from adjudge.errors import AccessError, UsageError
from tests.campaigns.conftest import NOW, Made, MakeCampaign

PASSWORD = "correct horse battery"


@pytest.fixture
def made(make_campaign_anywhere: MakeCampaign) -> Made:
    return make_campaign_anywhere(annotators=["Ann", "Ben"])


def organiser_of(made: Made) -> tuple[Campaign, int, Link]:
    campaign, links = made
    (found,) = (person for person in people.people(campaign) if person.role == "organiser")
    return campaign, found.id, links[-1]


def count(campaign: Campaign, table: str) -> int:
    with campaign.database.reading() as connection:
        return int(
            connection.execute(select(func.count()).select_from(getattr(database, table))).scalar_one()
        )


def test_a_link_lets_its_person_in(made: Made) -> None:
    campaign, links = made
    cookie = people.enter(campaign, links[0].secret, NOW)
    person = people.who(campaign, cookie, NOW)
    assert person is not None
    assert (person.name, person.role) == ("Ann", "annotator")


def test_links_that_were_replaced_let_nobody_in(made: Made) -> None:
    campaign, links = made
    assert people.valid_links(campaign, links) == (links, ())
    people.add_people(campaign, ["Zoe"], "annotator", NOW, actor="command")
    people.new_link(campaign, 1, NOW, actor="command")
    people.revoke(campaign, 2, NOW, actor="command")
    assert people.valid_links(campaign, links) == (links[-1:], ("Ann", "Zoe"))


def test_secrets_are_long_different_and_not_in_the_store(made: Made) -> None:
    campaign, links = made
    cookies = [people.enter(campaign, links[0].secret, NOW) for _ in range(2)]
    secrets = [*(link.secret for link in links), *cookies]
    assert len(set(secrets)) == len(secrets)
    assert min(len(secret) for secret in secrets) >= 22  # 128 bits, six a character
    assert min(len(cookie) for cookie in cookies) >= 43
    with campaign.database.reading() as connection:
        for table in (database.person, database.session, database.audit):
            stored = str(connection.execute(select(table)).all())
            assert not [secret for secret in secrets if secret in stored]


def test_what_is_no_secret_opens_nothing(made: Made) -> None:
    campaign, _ = made
    for secret in ("", "wrong", "A" * 22, "\0", "\ud800", "x" * 100_000, "' OR 1=1 --"):
        with pytest.raises(AccessError, match="not valid"):
            people.enter(campaign, secret, NOW)
        assert people.who(campaign, secret, NOW) is None


@pytest.mark.parametrize(
    ("seen", "later", "is_in"),
    [
        ([], IDLE, True),
        ([], IDLE + 1, False),
        ([IDLE], 2 * IDLE, True),  # whoever works stays in
        ([], LONGEST, False),
        ([IDLE * n for n in range(1, 14)], LONGEST, True),
        ([IDLE * n for n in range(1, 15)], LONGEST + 1, False),  # and not longer than a week
    ],
)
def test_a_session_ends_when_idle_or_old(
    make_campaign: MakeCampaign, seen: list[float], later: float, is_in: bool
) -> None:
    campaign, links = make_campaign()
    cookie = people.enter(campaign, links[0].secret, NOW)
    for at in seen:
        people.who(campaign, cookie, NOW + at)
    assert (people.who(campaign, cookie, NOW + later) is not None) is is_in


def test_who_is_looked_up_without_writing_within_a_minute(made: Made) -> None:
    campaign, links = made
    cookie = people.enter(campaign, links[0].secret, NOW)
    people.who(campaign, cookie, NOW + 59)
    with campaign.database.reading() as connection:
        assert connection.execute(select(database.session.c.seen_at)).scalar_one() == NOW


def test_old_sessions_are_cleared_at_login(made: Made) -> None:
    campaign, links = made
    people.enter(campaign, links[0].secret, NOW)
    people.enter(campaign, links[0].secret, NOW + LONGEST + 1)
    assert count(campaign, "session") == 1


def test_a_session_of_one_campaign_is_none_of_another(make_campaign_anywhere: MakeCampaign) -> None:
    (one, links), (other, _) = (make_campaign_anywhere() for _ in range(2))
    cookie = people.enter(one, links[0].secret, NOW)
    assert people.who(other, cookie, NOW) is None
    with pytest.raises(AccessError):
        people.enter(other, links[0].secret, NOW)


def test_who_is_revoked_is_out_at_once_and_can_be_let_in_again(made: Made) -> None:
    campaign, links = made
    ann = people.people(campaign)[0]
    cookie = people.enter(campaign, links[0].secret, NOW)
    people.revoke(campaign, ann.id, NOW + 1, actor="organiser")
    assert people.who(campaign, cookie, NOW + 2) is None
    with pytest.raises(AccessError):
        people.enter(campaign, links[0].secret, NOW + 2)
    link = people.new_link(campaign, ann.id, NOW + 3, actor="organiser")
    assert people.who(campaign, people.enter(campaign, link.secret, NOW + 4), NOW + 4) is not None


def test_the_last_organiser_cannot_be_revoked(made: Made) -> None:
    campaign, number, _ = organiser_of(made)
    with pytest.raises(UsageError, match="last organiser"):
        people.revoke(campaign, number, NOW, actor="organiser")
    people.add_people(campaign, ["Cleo"], "organiser", NOW, actor="organiser")
    people.revoke(campaign, number, NOW, actor="Cleo")
    assert [person.revoked_at for person in people.people(campaign) if person.id == number] == [NOW]


def test_without_a_password_nobody_signs_in(made: Made) -> None:
    campaign, _, _ = organiser_of(made)
    for name, password in (("organiser", ""), ("\0", PASSWORD), ("\ud800", "\ud800")):
        with pytest.raises(AccessError, match="belong together"):
            people.sign_in(campaign, name, password, NOW)


def test_passwords_are_kept_as_argon2_and_end_sessions(made: Made) -> None:
    campaign, number, link = organiser_of(made)
    cookie = people.enter(campaign, link.secret, NOW)
    people.set_password(campaign, number, PASSWORD, NOW, actor="command")
    assert people.who(campaign, cookie, NOW) is None
    with campaign.database.reading() as connection:
        chosen = select(database.person.c.password_hash).where(database.person.c.id == number)
        assert str(connection.execute(chosen).scalar_one()).startswith("$argon2id$")


def test_a_name_is_unique_and_can_be_seen(made: Made) -> None:
    campaign, _ = made
    for name in ("", "  ", "Ann", "a\nb", "a\0", "x" * 201, "\u202eevil"):
        with pytest.raises(UsageError):
            people.add_people(campaign, ["Cleo", name], "annotator", NOW, actor="organiser")
    assert [person.name for person in people.people(campaign)] == ["Ann", "Ben", "organiser"]


def test_what_organisers_do_is_written_down(made: Made) -> None:
    campaign, _ = made
    ann = people.people(campaign)[0]
    people.new_link(campaign, ann.id, NOW + 5, actor="organiser")
    people.revoke(campaign, ann.id, NOW + 6, actor="organiser")
    chosen = select(database.audit).where(database.audit.c.at > NOW).order_by(database.audit.c.id)
    with campaign.database.reading() as connection:
        rows = connection.execute(chosen).all()
    assert [(row.actor, row.action, row.detail) for row in rows] == [
        ("organiser", "new link", "Ann"),
        ("organiser", "revoke", "Ann"),
    ]


def test_passwords_are_for_organisers_and_long(made: Made) -> None:
    campaign, number, _ = organiser_of(made)
    ann = people.people(campaign)[0].id
    for chosen, password in ((number, "short"), (ann, PASSWORD), (10**6, PASSWORD)):
        with pytest.raises(UsageError):
            people.set_password(campaign, chosen, password, NOW, actor="x")
