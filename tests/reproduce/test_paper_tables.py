"""The tables of papers, as data: every cell has a column, every name leads somewhere."""

from dataclasses import replace

import pytest

from adjudge.analysis.shared_tasks import list_tasks
from adjudge.errors import UsageError
from adjudge.reproduce.esa_tables import CAMPAIGN_MEASURES
from adjudge.reproduce.paper_tables import (
    COUNT,
    EMPTY,
    META,
    UNPRINTED,
    Paper,
    Reason,
    list_papers,
    read_paper,
)
from adjudge.reproduce.reproduction import MARK_MEASURES, PAIR_MEASURES
from adjudge.stats.measures import MEASURES

PAPERS = [read_paper(name) for name in list_papers()]


def test_the_papers_are_those_that_were_promised() -> None:
    assert {"esa", "fire", "himate", "m-mad", "rate"} <= set(list_papers())
    with pytest.raises(UsageError, match=r"no paper 'bleu'; there are .*himate"):
        read_paper("bleu")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_row_has_a_number_for_every_column(paper: Paper) -> None:
    for table in paper.tables:
        assert table.columns
        assert table.rows
        assert len({row.name for row in table.rows}) == len(table.rows), table.name
        for row in table.rows:
            assert len(row.cells) == len(table.columns), (table.name, row.name)
            assert all(cell in {EMPTY, UNPRINTED} or float(cell) <= 8000 for cell in row.cells)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_name_leads_somewhere(paper: Paper) -> None:
    for source in paper.inputs.values():
        assert source.place in paper.places
        assert source.task in {None, *(task.name for task in list_tasks())}
    for table in paper.tables:
        assert table.input in paper.inputs
        for definition in table.columns.values():
            assert definition.measure in {
                *MEASURES,
                *PAIR_MEASURES,
                *MARK_MEASURES,
                *CAMPAIGN_MEASURES,
                META,
                COUNT,
            }
        for row in table.rows:
            assert "/" not in row.metric or row.metric.partition("/")[0] in paper.places


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_reason_is_about_a_cell_and_gives_a_definition_that_there_is(paper: Paper) -> None:
    cells = [(t, row.name, column) for t in paper.tables for row in t.rows for column in t.columns]
    for reason in paper.reasons:
        about = [(t, column) for t, row, column in cells if reason.applies(t.name, row, column)]
        assert about, reason.text
        for table, column in about:
            theirs = reason.definition(table.columns[column])
            assert theirs is None or theirs != table.columns[column]


def test_a_reason_changes_what_it_names_and_nothing_else() -> None:
    claimed = next(t for t in read_paper("rate").tables if t.name == "Table 3").columns["zh-en seg Acc-t"]
    reason = Reason(tables=("Table 3",), text="", instead={"average": "none", "segments": [1, 2]})
    assert reason.definition(claimed) == replace(claimed, average="none", segments=(1, 2))
