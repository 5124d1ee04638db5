"""The search agent: a question becomes queries, the engine is asked, and its results become an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from adjudge.core.ask import Ask, Message, Quoted, Reply
from adjudge.core.search import Query, SearchEngine, Snippet
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._fields import check_keys, object_schema, read_words
from adjudge.judges._json import read_object
from adjudge.judges._read import shown
from adjudge.judges._subject import language_names
from adjudge.judges.rate.memory import Note
from adjudge.judges.rate.team import Team

__all__ = ["Searching"]

_MOST: Final = 3
_LONGEST_AGE: Final = 36_500  # days


@dataclass(frozen=True, kw_only=True)
class Searching:
    """One search agent at work on one source.

    Args:
        team: of the judge.
        subject: whose source the questions are about.
        ask: puts questions to the model.
        engine: finds pages.
    """

    team: Team
    subject: Subject
    ask: Ask
    engine: SearchEngine

    async def find_out(self, question: str, stage: str) -> Note | None:
        """Answer one question; None where the engine found nothing.

        Raises:
            AnswerError: no readable queries or answer, or an engine that did not answer.
        """
        queries = await self._queries(question, stage)
        snippets = await self._look_up(queries)
        return await self._answer(question, snippets, stage) if snippets else None

    async def _queries(self, question: str, stage: str) -> tuple[Query, ...]:
        task = {"query": Quoted("question", question)}
        answer = await self.ask(
            self._messages("queries", **task),
            about=self.team.about(stage, self.subject, "search", "queries", question=question),
            read=partial(_read_queries, source=self.subject.source),
            schema=self.team.schema(_queries_schema()),
        )
        return answer.value

    async def _look_up(self, queries: Sequence[Query]) -> list[Snippet]:
        """Each result once; one query that failed does not undo the others.

        Raises:
            AnswerError: all queries failed.
        """
        found = await asyncio.gather(*(self._one(query) for query in queries))
        read = [snippets for snippets in found if not isinstance(snippets, AnswerError)]
        if not read:
            raise next(error for error in found if isinstance(error, AnswerError))
        return [*dict.fromkeys(snippet for snippets in read for snippet in snippets)]

    async def _one(self, query: Query) -> Sequence[Snippet] | AnswerError:
        try:
            return await self.engine.search(query)
        except AnswerError as error:
            return error

    async def _answer(self, question: str, snippets: Sequence[Snippet], stage: str) -> Note:
        results = json.dumps([vars(snippet) for snippet in snippets], ensure_ascii=False)
        found = snippets[0].text or snippets[0].title
        answer = await self.ask(
            self._messages("answer", query=Quoted("question", question), results=Quoted("results", results)),
            about=self.team.about(stage, self.subject, "search", "answer", found=found),
            read=partial(_read_answer, question=question, source=self.subject.source),
            schema=self.team.schema(object_schema(reasoning={"type": "string"}, answer={"type": "string"})),
        )
        return answer.value

    def _messages(self, name: str, **parts: Quoted) -> list[Message]:
        prompts = self.team.prompts
        languages = language_names(self.subject.lp) if name == "queries" else {}
        system = prompts.message("system", name, **languages, markers=prompts.piece("markers"))
        source = Quoted("source", self.subject.source)
        return [system, prompts.message("user", f"{name}_task", source=source, **parts)]


def _read_queries(reply: Reply, *, source: str) -> tuple[Query, ...]:
    value = read_object(reply, judged=(source,), keys=("queries",)).value["queries"]
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST:
        raise AnswerError("count", f"queries must be a list of 1 to {_MOST}, got {shown(value)}")
    return tuple(dict.fromkeys(_read_query(item) for item in value))


def _read_query(value: object) -> Query:
    fields = check_keys(value, ("query", "recency"), "a query")
    recency = fields["recency"]
    if recency is not None and not (type(recency) is int and 1 <= recency <= _LONGEST_AGE):
        raise AnswerError("range", f"recency must be a number of days or null, got {shown(recency)}")
    return Query(text=read_words(fields["query"], "a query"), recency=recency)


def _read_answer(reply: Reply, *, question: str, source: str) -> Note:
    fields = read_object(reply, judged=(source,), keys=("reasoning", "answer")).value
    return Note(
        query=question,
        answer=read_words(fields["answer"], "answer"),
        reasoning=read_words(fields["reasoning"], "reasoning"),
    )


def _queries_schema() -> Mapping[str, object]:
    recency = {"type": ["integer", "null"]}
    query = object_schema(query={"type": "string"}, recency=recency)
    return object_schema(queries={"type": "array", "items": query})
