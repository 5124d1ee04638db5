"""Campaigns are made whole or not at all, and opened again."""

import json
import sqlite3
import stat
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from adjudge.campaigns import database, making
from adjudge.campaigns.campaign import (
    alone,
    completion_code,
    open_campaign,
    read_guidelines,
    read_links,
    remove_campaign,
    restore_campaign,
    write_guidelines,
)
from adjudge.campaigns.database import Campaign, read_audit
from adjudge.campaigns.exporting import export_campaign
from adjudge.campaigns.making import insert_tasks
from adjudge.campaigns.people import enter
from adjudge.campaigns.settings import NAMES, OURS, canonical_category, read_typology
from adjudge.campaigns.tasks import make_tasks
from adjudge.core.protocol import CATEGORIES
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import AdjudgeError, DataError, DataWarning, StoreError, UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import content_of
from tests.campaigns.conftest import NOW, MakeCampaign, make_test_set, opener, server_store
from tests.campaigns.work import answer_all, do_one, person, take, work_off


def rows(campaign: Campaign, table: str) -> list[Any]:
    chosen = getattr(database, table)
    with campaign.database.reading() as connection:
        return list(connection.execute(select(chosen).order_by(chosen.c.id)))


def test_a_campaign_that_was_made_can_be_opened_again(make_campaign_anywhere: MakeCampaign) -> None:
    made, _ = make_campaign_anywhere("esa", 4, raters=2, checks=0.2, seed=7)
    opened = open_campaign(made.folder)
    assert (opened.id, opened.name, opened.settings) == (made.id, made.name, made.settings)
    assert opened.settings.digest == make_test_set("en-de").digest
    opened.database.close()


@pytest.mark.parametrize("protocol", NAMES)
def test_every_protocol_makes_a_campaign(make_campaign: MakeCampaign, protocol: str) -> None:
    clean = [
        Annotation(lp="en-de", segment=s.segment, system=name, annotator="x", protocol="mqm")
        for s in make_test_set("en-de")
        for name in s.translations
    ]
    given = {"given": clean} if protocol == "esa-ai" else {}
    campaign, links = make_campaign(protocol, 2, checks=0.2, tutorial=True, seed=1, **given)
    assert [link.role for link in links] == ["annotator", "annotator", "organiser"]
    assert {task.kind for task in rows(campaign, "task")} == {"tutorial", "original", "check"}
    for item in rows(campaign, "item"):
        assert json.loads(item.translations)
    checked = [json.loads(item.check) for item in rows(campaign, "item") if item.check is not None]
    assert {check["what"] for check in checked} == {"tutorial", "damaged"}


def test_copies_know_their_originals(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere(checks=0.3, tutorial=True)
    tasks = {task.id: task for task in rows(campaign, "task")}
    copies = [task for task in tasks.values() if task.kind == "check"]
    assert copies
    for copy in copies:
        original = tasks[copy.copy_of]
        assert (original.kind, original.document, original.systems, original.batch) == (
            "original",
            copy.document,
            copy.systems,
            copy.batch,
        )
        assert original.number < copy.number
    assert [task.copy_of for task in tasks.values() if task.kind != "check"] == [None] * (
        len(tasks) - len(copies)
    )


def test_texts_are_stored_as_they_are(make_campaign_anywhere: MakeCampaign) -> None:
    texts = ["", " a\r\nb ", "e\u0301\u2028\u202e", "👩‍👩‍👧", "<b>&amp;</b>", "\ufeff"]
    segments = [
        Segment(segment=str(n), lp="en-de", source=text, translations={"A": text}, document=f"d{n}")
        for n, text in enumerate(texts)
    ]
    campaign, _ = make_campaign_anywhere(test_set=TestSet(name="odd", segments=tuple(segments)))
    found = {item.segment: item for item in rows(campaign, "item")}
    assert [found[str(n)].source for n in range(len(texts))] == texts
    assert [json.loads(found[str(n)].translations)[0]["text"] for n in range(len(texts))] == texts


def test_two_campaigns_of_one_server_are_two(make_campaign_anywhere: MakeCampaign) -> None:
    (one, _), (other, _) = make_campaign_anywhere(), make_campaign_anywhere("sqm")
    assert (one.protocol.name, other.protocol.name) == ("esa", "sqm")
    assert one.id != other.id or one.database.is_sqlite


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)  # a file has one campaign
def test_a_name_that_the_server_knows_is_refused(make_campaign_anywhere: MakeCampaign) -> None:
    made, _ = make_campaign_anywhere(name="first")
    made.folder.rename(made.folder.with_name("moved"))
    with pytest.raises(UsageError, match="has a campaign 'first' already"):
        make_campaign_anywhere(name="first")
    assert len(rows(made, "campaign")) == 1


# A backup goes back to what was, where the campaign is or in another store.


def exported(folder: Path) -> bytes:
    with open_campaign(folder) as campaign:
        write_content(
            folder.parent / "export.jsonl", "campaign", content_of(export_campaign(campaign)), force=True
        )
        audit = read_audit(campaign)
    return (folder.parent / "export.jsonl").read_bytes() + repr(audit).encode()


def contents(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table that a campaign's store has of it."""
    with open_campaign(folder) as campaign, campaign.database.reading() as connection:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(
                    select(table).where(database._belongs(table, campaign.name)).order_by(*table.primary_key)
                )
            ]
            for table in database.METADATA.sorted_tables
        }


def worked_on(made: Campaign, *people: int, now: float) -> None:
    with open_campaign(made.folder) as campaign:
        for number in people:
            do_one(campaign, person(campaign, number), now)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    yield from server_store()


def to_store(folder: Path, database: str) -> tuple[str, str]:
    """Back a campaign up, and restore it to another store."""
    backup = folder.parent / f"{uuid.uuid4().hex}.sqlite"
    with open_campaign(folder) as campaign:
        campaign.database.backup(backup, campaign.name)
    return restore_campaign(folder, backup, database)


@pytest.mark.parametrize("protocol", ["esa", "contrastive-esa", "pairwise"])
def test_a_campaign_goes_to_a_server_and_back(
    make_campaign: MakeCampaign, server: str, tmp_path: Path, small: TestSet, protocol: str
) -> None:
    made, links = make_campaign(protocol, name="moving", checks=0.3 * (protocol == "esa"), raters=2)
    worked_on(made, 0, 1, now=NOW)
    before, everything = exported(made.folder), contents(made.folder)
    made.database.backup(tmp_path / "backup.sqlite", "moving")
    made.database.close()
    kept = (tmp_path / "backup.sqlite").read_bytes()
    old, new = restore_campaign(made.folder, tmp_path / "backup.sqlite", server)
    assert (tmp_path / "backup.sqlite").read_bytes() == kept
    assert contents(made.folder) == everything
    remove_campaign(made.folder, old, None, confirm=no_question)
    assert not (made.folder / "campaign.sqlite").exists()
    with contextmanager(opener)(tmp_path, small, server) as neighbour:
        other, _ = neighbour(name="neighbour")
        work_off(other, person(other), NOW)
    before_other = exported(other.folder)
    assert ("sqlite" in old, "postgresql" in new) == (True, True)
    assert exported(made.folder) == before
    worked_on(made, 0, 2, now=NOW + 900)
    with open_campaign(made.folder) as there:
        assert there.database.url == new
        assert enter(there, links[0].secret, NOW + 999)
        there.database.backup(tmp_path / "later.sqlite", "moving")
    later = exported(made.folder)
    assert later != before
    restore_campaign(made.folder, tmp_path / "backup.sqlite")
    assert exported(made.folder) == before
    restore_campaign(made.folder, tmp_path / "later.sqlite")
    assert exported(made.folder) == later
    everything = contents(made.folder)
    assert to_store(made.folder, "campaign.sqlite")[1] == old
    assert (exported(made.folder), contents(made.folder)) == (later, everything)
    remove_campaign(made.folder, server, None, confirm=no_question)
    with pytest.raises(DataError, match="has no campaign 'moving'"):
        remove_campaign(made.folder, server, None, confirm=no_question)
    with open_campaign(made.folder) as back:
        assert enter(back, links[0].secret, NOW + 1800)
    worked_on(made, 1, now=NOW + 1900)
    restore_campaign(made.folder, tmp_path / "later.sqlite")
    assert exported(made.folder) == later
    assert exported(other.folder) == before_other


def test_a_store_in_which_the_keys_are_taken_is_refused(
    make_campaign: MakeCampaign, server: str, tmp_path: Path, small: TestSet
) -> None:
    with contextmanager(opener)(tmp_path, small, server) as neighbour:
        other, _ = neighbour(name="neighbour")
        before_other = exported(other.folder)
    made, _ = make_campaign(name="moving")
    worked_on(made, 0, now=NOW)
    before = exported(made.folder)
    with pytest.raises(UsageError, match="a schema, of its own"):
        to_store(made.folder, server)
    assert (exported(made.folder), exported(other.folder)) == (before, before_other)


def test_a_file_by_its_address_is_found_from_everywhere(
    make_campaign: MakeCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = make_campaign(name="there")
    before = exported(made.folder)
    monkeypatch.chdir(tmp_path)
    to_store(Path("there"), "sqlite:///elsewhere.sqlite")
    assert (tmp_path / "elsewhere.sqlite").is_file()
    monkeypatch.chdir("/")
    assert exported(made.folder) == before
    with open_campaign(made.folder) as there:
        assert Path(there.database.url.removeprefix("sqlite:///")).samefile(tmp_path / "elsewhere.sqlite")


def test_what_cannot_be_restored_stays_what_it_was(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    (one, _), (other, _) = make_campaign(name="one"), make_campaign(name="other")
    worked_on(one, 0, now=NOW)
    before = exported(one.folder)
    other.database.backup(tmp_path / "other.sqlite", "other")
    with alone(one.folder), pytest.raises(UsageError, match="another process serves"):
        restore_campaign(one.folder, tmp_path / "other.sqlite")
    with pytest.raises(StoreError):
        to_store(one.folder, "postgresql://localhost:1/none?connect_timeout=1")
    with pytest.raises(UsageError, match="the only store"):
        remove_campaign(one.folder, None, None, confirm=no_question)
    with pytest.raises(DataError, match="no campaign 'one'"):
        restore_campaign(one.folder, tmp_path / "other.sqlite")
    whole = (tmp_path / "other.sqlite").read_bytes()
    for number, damaged in enumerate((b"no store", b"", whole[: len(whole) // 2], whole[:4096])):
        (tmp_path / f"{number}.sqlite").write_bytes(damaged)
        with pytest.raises(DataError, match="it is no backup of a campaign, or it is damaged") as refused:
            restore_campaign(one.folder, tmp_path / f"{number}.sqlite")
        assert refused.value.path == tmp_path / f"{number}.sqlite"
    assert exported(one.folder) == before


def test_a_store_that_holds_more_than_the_backup_is_named(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    made, _ = make_campaign(name="one")
    backup, there = tmp_path / "backup.sqlite", f"sqlite:///{tmp_path / 'there.sqlite'}"
    made.database.backup(backup, "one")
    worked_on(made, 0, now=NOW)
    with pytest.warns(
        DataWarning, match=r"campaign.sqlite holds what people did after .*backup.sqlite was written"
    ):
        restore_campaign(made.folder, backup, there)


def test_a_backup_of_a_newer_version_is_refused(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    made, _ = make_campaign(name="one")
    made.database.backup(tmp_path / "backup.sqlite", "one")
    with closing(sqlite3.connect(tmp_path / "backup.sqlite")) as copy:
        copy.execute("UPDATE alembic_version SET version_num = 'm999'")
        copy.commit()
    before, kept = exported(made.folder), (tmp_path / "backup.sqlite").read_bytes()
    with pytest.raises(StoreError, match=r"newer adjudge.*'m999'.*update adjudge"):
        restore_campaign(made.folder, tmp_path / "backup.sqlite")
    assert exported(made.folder) == before
    assert (tmp_path / "backup.sqlite").read_bytes() == kept


def no_question(_: str) -> None:
    """Whoever asks gets a yes."""


def test_a_restore_that_ended_before_it_was_noted_goes_on(make_campaign: MakeCampaign, server: str) -> None:
    made, _ = make_campaign(name="moving")
    worked_on(made, 0, now=NOW)
    known, before = (made.folder / "campaign.json").read_bytes(), exported(made.folder)
    to_store(made.folder, server)
    (made.folder / "campaign.json").write_bytes(known)
    to_store(made.folder, server)
    with open_campaign(made.folder) as there:
        assert not there.database.is_sqlite
    assert exported(made.folder) == before


def test_what_was_written_in_another_store_is_never_lost(
    make_campaign: MakeCampaign, server: str, tmp_path: Path
) -> None:
    made, _ = make_campaign(name="moving")
    known = (made.folder / "campaign.json").read_bytes()
    old, _ = to_store(made.folder, server)
    gone = (made.folder / "campaign.json").read_bytes()
    (made.folder / "campaign.json").write_bytes(known)
    worked_on(made, 0, now=NOW)
    written = exported(made.folder)
    (made.folder / "campaign.json").write_bytes(gone)
    with pytest.raises(UsageError, match=r"adjudge campaign remove .*--backup FILE"):
        to_store(made.folder, "campaign.sqlite")
    with pytest.raises(UsageError, match=r"it has what postgresql.* lacks"):
        remove_campaign(made.folder, old, None, confirm=no_question)
    remove_campaign(made.folder, old, tmp_path / "old.sqlite", confirm=no_question)
    to_store(made.folder, "campaign.sqlite")
    restore_campaign(made.folder, tmp_path / "old.sqlite")
    assert exported(made.folder) == written


def test_a_campaign_is_removed_from_a_server_and_brought_back(
    make_campaign: MakeCampaign, server: str, tmp_path: Path, small: TestSet
) -> None:
    with contextmanager(opener)(tmp_path, small, server) as there:
        made, _ = there(name="there")
        other, _ = there(name="neighbour")
        worked_on(made, 0, now=NOW)
    before, before_other = exported(made.folder), exported(other.folder)
    with pytest.raises(UsageError, match="the only store"):
        remove_campaign(made.folder, None, None, confirm=no_question)
    same = f"{server}%20-cstatement_timeout%3D60000"  # the same store by another address
    with pytest.raises(UsageError, match="the only store"):
        remove_campaign(made.folder, same, None, confirm=no_question)
    assert exported(made.folder) == before
    asked: list[str] = []
    remove_campaign(made.folder, None, tmp_path / "kept.sqlite", asked.append)
    assert asked[0].endswith(": 4 people, 1 finished segment"), asked
    with pytest.raises(DataError, match="no campaign 'there'; `adjudge campaign restore"):
        open_campaign(made.folder)
    restore_campaign(made.folder, tmp_path / "kept.sqlite")
    assert (exported(made.folder), exported(other.folder)) == (before, before_other)
    made.folder.rename(tmp_path / "lost")
    with pytest.raises(UsageError, match="the only store"):
        remove_campaign(made.folder, server, None, confirm=no_question)
    remove_campaign(made.folder, server, tmp_path / "again.sqlite", confirm=no_question)
    assert exported(other.folder) == before_other


def test_who_serves_a_campaign_while_it_is_removed_writes_nothing_more(
    make_campaign: MakeCampaign, server: str
) -> None:
    made, links = make_campaign(name="moving")
    made.database.close()
    to_store(made.folder, server)
    with open_campaign(made.folder) as serving:
        who = person(serving)
        given = take(serving, who, NOW)
        to_store(made.folder, "campaign2.sqlite")
        remove_campaign(made.folder, server, None, confirm=no_question)
        with pytest.raises(AdjudgeError):
            answer_all(serving, who, given, NOW)
        with pytest.raises(AdjudgeError):
            enter(serving, links[0].secret, NOW)


# What cannot be made...


def test_a_folder_that_exists_is_refused_with_what_opens_a_campaign_in_it(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError, match=r"mine' exists; choose another name$"):
        make_campaign(name="mine")
    make_campaign(name="my own")
    with pytest.raises(UsageError, match=r"or open it: adjudge campaign serve '.*/my own'$"):
        make_campaign(name="my own")


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"annotators": 0}, "one annotator or more, got 0"),
        ({"annotators": ["Ann", "Ann"]}, "somebody called 'Ann' already"),
        ({"annotators": ["organiser"]}, "somebody called 'organiser' already"),
        ({"annotators": []}, "needs one annotator"),
        ({"raters": 4}, "each segment needs 4 raters, and en-de has 3 annotators"),
        ({"test_set": TestSet(name="none", segments=())}, "'none' has nothing to judge"),
        (
            {"test_set": make_test_set("en-de", "en-zh"), "raters": 2},
            "needs 2 raters, and .* has 1 annotator",
        ),
        ({"checks": 0.1, "check_kinds": ("missing",), "protocol": "sqm"}, "checks of kind 'missing'"),
        ({"checks": 0.1, "check_kinds": ("score",), "protocol": "mqm"}, "checks of kind 'score'"),
        ({"name": ".hidden"}, "cannot be the name of a file"),
    ],
)
def test_what_cannot_be_a_campaign_leaves_nothing_behind(
    make_campaign: MakeCampaign, tmp_path: Path, changes: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(AdjudgeError, match=wrong):
        make_campaign(**changes)
    assert list(tmp_path.iterdir()) == []


def test_what_people_have_no_time_for_is_counted(make_campaign: MakeCampaign) -> None:
    """Twelve segments in six tasks, of which one person is asked for seven segments at most."""
    with pytest.warns(DataWarning) as told:
        campaign, _ = make_campaign(annotators=1, segments_each=7)
    kept = len(rows(campaign, "item"))
    (said,) = (str(one.message) for one in told)
    assert said == (
        f"{12 - kept} of 12 segments, {6 - len(rows(campaign, 'task'))} of 6 tasks, are left out: "
        "1 person is asked for 7 segments at most"
    )
    make_campaign(annotators=1, segments_each=12)


def test_translations_that_are_missing_are_counted(make_campaign: MakeCampaign) -> None:
    segments = [
        Segment(segment=str(n), lp="en-de", source="Yes.", translations=texts)
        for n, texts in enumerate([{"A": "Ja.", "B": " "}, {"A": "Ja."}, {"A": "Ja.", "B": "Jo."}])
    ]
    with pytest.warns(DataWarning, match="2 of 6 translations are missing and shown to nobody"):
        campaign, _ = make_campaign("esa", 1, test_set=TestSet(name="x", segments=tuple(segments)))
    assert len(rows(campaign, "item")) == 4


@pytest.mark.filterwarnings("ignore:.*shown to nobody")
def test_pairs_of_one_text_are_counted(make_campaign: MakeCampaign) -> None:
    texts = ["Ja.", "Ja.", "Jawohl."]
    segments = [
        Segment(
            segment=str(n), lp="en-de", source="Yes.", translations=dict(zip("ABC", texts[:n], strict=False))
        )
        for n in (1, 2, 3)
    ]
    with pytest.warns(DataWarning, match="2 of 4 pairs of translations are left out: both are one text"):
        campaign, _ = make_campaign("pairwise", 1, test_set=TestSet(name="x", segments=tuple(segments)))
    assert len(rows(campaign, "item")) == 2


def test_after_a_stop_nothing_of_a_campaign_is_left(
    make_campaign_anywhere: MakeCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, _ = make_campaign_anywhere(name="kept")
    before = [len(rows(kept, table)) for table in ("campaign", "task", "item", "person", "audit")]

    def stop(*args: Any) -> None:
        insert_tasks(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(making, "insert_tasks", stop)
    with pytest.raises(KeyboardInterrupt):
        make_campaign_anywhere(name="stopped", checks=0.2)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert [len(rows(kept, table)) for table in ("campaign", "task", "item", "person", "audit")] == before


# The folder...


def test_only_the_owner_reads_links(make_campaign: MakeCampaign) -> None:
    campaign, links = make_campaign()
    file = campaign.folder / "links.csv"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(campaign.folder.stat().st_mode) == 0o700
    assert read_links(campaign.folder) == links
    assert [line.rpartition(",")[2] for line in file.read_text().split()[1:]] == [link.path for link in links]


def test_a_damaged_campaign_json_is_said(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign()
    path = campaign.folder / "campaign.json"
    said = json.loads(path.read_text())
    assert said == {"name": "campaign-0", "protocol": "esa", "database": "campaign.sqlite", "version": 1}
    for text in (b"", b"[]", b"{}", b'{"version": 2}', b'{"version": 1}', b"\xff"):
        path.write_bytes(text)
        with pytest.raises(DataError, match=r"campaign\.json"):
            open_campaign(campaign.folder)


def test_a_store_that_is_missing_or_none_is_said_and_not_made(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign()
    campaign.database.close()
    for file in campaign.folder.glob("campaign.sqlite*"):
        file.unlink()
    with pytest.raises(DataError, match="store of the campaign is missing"):
        open_campaign(campaign.folder)
    assert not (campaign.folder / "campaign.sqlite").exists()
    (campaign.folder / "campaign.sqlite").write_text("no database " * 1000)
    with pytest.raises(AdjudgeError, match="not a database"):
        open_campaign(campaign.folder)


# Many tasks...


def test_tasks_are_appended_in_short_transactions_and_numbered_on(
    make_campaign_anywhere: MakeCampaign,
) -> None:
    campaign, _ = make_campaign_anywhere()
    segments = [
        Segment(segment=str(n), lp="en-de", source="s", translations={"A": "a"}, document=f"d{n // 7}")
        for n in range(1500)
    ]
    tasks = make_tasks(TestSet(name="more", segments=tuple(segments)), "one")
    before = len(rows(campaign, "task"))
    assert len(insert_tasks(campaign.database, campaign.id, tasks)) == len(tasks)
    stored = rows(campaign, "task")
    assert [task.number for task in stored] == list(range(1, before + len(tasks) + 1))
    with campaign.database.reading() as connection:
        counted = select(database.item.c.task_id, func.count()).group_by(database.item.c.task_id)
        counts = {row[0]: row[1] for row in connection.execute(counted)}
    assert [counts[task.id] for task in stored[before:]] == [len(task.items) for task in tasks]


def test_people_write_between_the_transactions_of_an_import(
    make_campaign: MakeCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, _ = make_campaign()
    items: list[int] = []
    pauses: list[float] = []
    monkeypatch.setattr("adjudge.campaigns.making.sleep", pauses.append)
    writing = campaign.database.writing

    def watched() -> Any:
        items.append(len(rows(campaign, "item")))
        return writing()

    monkeypatch.setattr(campaign.database, "writing", watched)
    tasks = make_tasks(make_test_set("en-de"), "one")
    insert_tasks(campaign.database, campaign.id, tasks * 200)
    assert max(later - earlier for earlier, later in pairwise(items)) <= 210
    assert len(items) >= 2400 // 210
    assert len(pauses) == len(items) - 1  # in which another process gets the store


def test_times_are_those_that_were_passed(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(now=NOW + 5)
    assert {row.created_at for table in ("campaign", "person") for row in rows(campaign, table)} == {NOW + 5}


# The code at the end: for who worked, and for who noticed what was damaged.


@pytest.mark.parametrize("other", ["NO", "YES"])
def test_who_finished_work_gets_the_code(make_campaign: MakeCampaign, other: str) -> None:
    campaign, _ = make_campaign("esa", 2, assignment="pool", code_pass="YES", code_fail=other)
    first, late = person(campaign, 0), person(campaign, 1)
    assert completion_code(campaign, first) == ""
    work_off(campaign, first, NOW)
    assert completion_code(campaign, first) == "YES"
    assert completion_code(campaign, late) == "", "nothing is left, and nothing was done"


@pytest.mark.parametrize(("rating", "code"), [(100, "NO"), (0, "YES")])
def test_who_does_not_notice_what_was_damaged_gets_the_other_code(
    make_campaign: MakeCampaign, rating: float, code: str
) -> None:
    """Translations of other texts deserve a low rating, which one person gives, and the other does not."""
    settings = {"checks": 0.4, "check_kinds": ("score",), "code_pass": "YES", "code_fail": "NO"}
    campaign, _ = make_campaign("esa", 1, **settings)
    work_off(campaign, person(campaign), NOW, rating=rating)
    assert completion_code(campaign, person(campaign)) == code


# Guidelines and categories: ours for every protocol, and people's own.


def test_every_protocol_has_guidelines(tmp_path: Path) -> None:
    for protocol in NAMES:
        write_guidelines(tmp_path / protocol, protocol, ["en-de", "en-zh"])
        texts = {path.name: path.read_text() for path in (tmp_path / protocol).iterdir()}
        assert sorted(texts) == ["en-de.md", "guidelines.md"], protocol
        assert texts["guidelines.md"].startswith("# "), protocol


def test_no_other_file_is_ever_read_as_guidelines(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign()
    for lp in ("en-xx", "../campaign", "/etc/passwd", "\0"):
        assert read_guidelines(campaign, lp) == read_guidelines(campaign, ""), lp


def test_guidelines_are_read_as_they_stand_now(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(test_set=make_test_set("en-de", "en-zh"))
    assert "# English to German" in read_guidelines(campaign, "en-de")
    assert "# English to German" not in read_guidelines(campaign, "en-zh")
    (campaign.folder / "guidelines" / "en-zh.md").write_text("# 规则")
    assert read_guidelines(campaign, "en-zh").startswith("# Mark the errors")
    assert read_guidelines(campaign, "en-zh").endswith("\n\n# 规则")


def test_guidelines_of_ones_own_take_the_place_of_ours(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    (tmp_path / "guidelines.md").write_text("# Mine")
    campaign, _ = make_campaign(guidelines=tmp_path)
    assert read_guidelines(campaign, "en-de").startswith("# Mine\n\n# English to German")
    (tmp_path / "guidelines.md").unlink()
    with pytest.raises(UsageError, match=r"has none of guidelines\.md, en-de\.md"):
        make_campaign(guidelines=tmp_path)


# Categories...


def test_our_categories_are_all_but_non_translation(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("mqm")
    assert campaign.categories == OURS
    assert set(CATEGORIES) - set(OURS) == {"non-translation"}


def test_categories_of_ones_own_count_as_one_of_ours() -> None:
    canonical = {
        "Accuracy/Omission": "accuracy/omission",
        "accuracy/whatever": "accuracy",
        "Tone/Too casual": "other",
        "non-translation": "non-translation",
    }
    assert {name: canonical_category(name) for name in canonical} == canonical


def test_what_is_no_typology_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    no_categories = ["", "x", "[categories]", "categories = 1", "[categories]\na = 1"]
    for text in [*no_categories, '[categories]\n"a/b/c" = "x"', '[categories]\n"" = "x"']:
        own.write_text(text)
        with pytest.raises(DataError, match=r"own\.toml"):
            read_typology(own)


def test_a_campaign_may_have_categories_of_its_own(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[categories]\n"Accuracy/Omission" = "left out"\n"Tone" = "not ours"\n')
    campaign, _ = make_campaign("mqm", typology=own)
    opened = open_campaign(campaign.folder)
    assert dict(opened.categories) == {"Accuracy/Omission": "left out", "Tone": "not ours"}
    opened.database.close()
    with pytest.raises(UsageError, match="esa asks for no categories"):
        make_campaign("esa", typology=own)
