"""What a report says in words to a reader who has not read the papers.

`FAILURES`, `meaning` and `card_words` say what failures, scores and scorecards mean; `finding` says what one
ranking shows, and `headline` what all rankings of a page show together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from adjudge.analysis.rank import RankedSystem
from adjudge.core.language import language_name, source_language, target_language
from adjudge.core.mqm import PassMark, Weights
from adjudge.core.protocol import find_protocol
from adjudge.core.record import grouped
from adjudge.core.scores import Scores
from adjudge.core.wording import count, form
from adjudge.errors import FailureReason
from adjudge.reports.annotators import Annotator
from adjudge.reports.tables import digits_for, number

FAILURES: Final[Mapping[FailureReason, str]] = {
    "ambiguous": "the reply can be read in two ways",
    "bad_envelope": "the server's answer is not built as it should be",
    "connection": "the server could not be reached",
    "count": "not as many answers came as were asked for",
    "empty": "the reply is empty",
    "encoding": "the reply is not valid text",
    "label": "the reply names a severity or category that does not exist",
    "logprob": "token probabilities are missing or are no numbers",
    "missing": "something that the judge needs is missing",
    "model_mismatch": "another model answered than the one asked",
    "no_answer": "the model thought and did not answer",
    "no_translation": "not translated",
    "not_json": "the server answered with something else than JSON",
    "oversize": "the reply is too large",
    "parse": "the reply does not have the form asked for",
    "raised": "the code of the metric ended with an error",
    "range": "a number lies outside of its scale",
    "refused": "the model declined to answer",
    "schema": "the reply lacks a part, or has one too many",
    "server_error": "the server failed",
    "span": "an error quotes words that stand in neither text",
    "timeout": "no reply came in time",
    "too_long": "the texts do not fit into the model",
    "truncated": "the reply was cut off",
    "words": "words that nobody asked for stand beside the answer",
}
"""Each reason for a failure, to be read after the word itself."""


def lp_words(lp: str) -> str:
    """Name a language pair: English to German."""
    return f"{language_name(source_language(lp))} to {language_name(target_language(lp))}"


def axis_words(annotator: Annotator, scores: Scores) -> str:
    weights = scores.weights and scores.weights.name
    if scores.range == (0.0, 1.0) and annotator.protocol == "pairwise":
        return "share of comparisons won, higher is better"
    if find_protocol(annotator.protocol).has_criteria:
        return f"share of criteria passed, {scores.direction}"
    plain = "score" if annotator.protocol == "metric" else "rating"
    what = f"score ({weights} weights)" if weights else plain
    return f"{what}, {scores.direction}"


def meaning(annotator: Annotator) -> str:
    """Say where the numbers of an annotator come from, on which scale, and which way is better."""
    results = list(annotator.results.values())
    if not results:
        return "It has no score on this page."
    scores = results[0].scores
    weights = scores.weights
    if annotator.protocol == "pairwise":
        criterion = scores.signature.fields.get("criterion", "overall")
        start = f"A score is the share of comparisons won on the criterion {criterion}; a tie counts half."
    elif find_protocol(annotator.protocol).has_criteria:
        start = "A score is the share of the segment’s criteria that the translation passes."
    elif weights:
        start = f"A score is minus the points of all errors marked. {_weight_words(weights)}"
    elif annotator.info is None and annotator.protocol == "metric":
        start = "A score is the number that its file gives."
    elif annotator.kind == "metric":
        start = "A score is what the metric computed, without a language model."
    else:
        start = f"A score is the rating given ({find_protocol(annotator.protocol).title})."
    mean = _MEANS.get(results[0].ranking.signature.fields.get("level"), _USUAL_MEAN)
    return f"{start} {_range_words(scores)} {mean}"


def _weight_words(weights: Weights) -> str:
    plain = [f"{key} {value:g}" for key, value in weights.rules.items() if "/" not in key]
    special = [
        f"{key.replace('*/', 'any/').replace('/', ' ', 1)} {value:g}"
        for key, value in weights.rules.items()
        if "/" in key
    ]
    told = [
        f"Weights {weights.name}: {', '.join(plain)}",
        ", ".join(special),
        ", ".join(f"{key} {times:g} times" for key, times in weights.multipliers.items()),
        "" if weights.first is None else f"only the {weights.first} costliest errors count",
        "" if weights.cap is None else f"at most {weights.cap:g} points in all",
    ]
    return f"{'; '.join(filter(None, told))} ({weights.source})."


def _range_words(scores: Scores) -> str:
    low, high = scores.range
    if math.isinf(low) and math.isinf(high):
        where = "Scores have no fixed range"
    elif math.isinf(low):
        where = f"The best score is {number(high, 0)}, and there is no worst"
    else:
        where = f"Scores lie between {number(low, 0)} and {number(high, 0)}"
    return f"{where}; {scores.direction}."


_MEANS: Final[Mapping[str | None, str]] = {
    "corpus": "A system’s score is the metric’s own score of the whole corpus, not a mean.",
    "mean": "A system’s score on this page is the mean of its segments’ scores; the metric’s own score of "
    "the whole corpus is another number, which `adjudge score` prints.",
}
"""What the score of a system is, by the level in its signature."""
_USUAL_MEAN: Final = (
    "A system’s score is the mean over judged segments; failures have no score and are in no mean."
)

_MOST_NAMES: Final = 4
LOOSE: Final = "The systems were not judged on the same segments and cannot be ranked"


def in_words(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Join names as a sentence does; more than `most` are counted."""
    if len(names) > most:
        names = [*names[: most - 1], count(len(names) - most + 1, "other")]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def finding(rows: Sequence[RankedSystem], few: str = "") -> str:
    """State what one ranking shows."""
    judged = [row for row in rows if row.score is not None]
    if not judged:
        failed = sum(row.failed for row in rows)
        lost = "the one judgement" if failed == 1 else f"all {failed:,} judgements"
        return f"Nothing was judged: {lost} failed" if failed else "Nothing was judged"
    if is_loose(rows):
        return LOOSE
    silent = [row.system for row in rows if row.score is None]
    told = _only(judged[0]) if len(judged) == 1 else few or _pairs(judged)
    return told + (f"; nothing was judged for {in_words(silent)}" if silent else "")


def is_loose(rows: Sequence[RankedSystem]) -> bool:
    """Whether systems were judged and cannot be ranked."""
    judged = [row for row in rows if row.score is not None]
    return len(judged) > 1 and any(row.cluster is None for row in judged)


def _only(row: RankedSystem) -> str:
    digits = digits_for([row.score], [row.interval])
    ends = [number(end, digits) for end in row.interval or ()]
    around = f" ({' to '.join(ends)})" if ends else ""
    return f"{row.system} scores {number(row.score, digits)}{around} on {count(row.n, 'segment')}"


def _pairs(judged: Sequence[RankedSystem]) -> str:
    names = [row.system for row in judged]
    pairs = len(names) * (len(names) - 1) // 2
    found = sum(len(row.better_than) for row in judged)
    first, last = judged[0], judged[-1]
    if not found:
        which = f"any two of the {len(names)} systems" if len(names) > _MOST_NAMES else in_words(names)
        return f"No significant difference between {which}"
    if len(names) == 2:
        return f"{names[0]} is significantly better than {names[1]}"
    if found == pairs:
        order = f", then {in_words(names[1:])}" if len(names) <= _MOST_NAMES else ""
        return f"All {pairs} pairs differ significantly: {names[0]} is best{order}"
    others = len(names) - 1
    won = len(first.better_than)
    if won == others:
        among, left = pairs - others, found - others
        rest = f"{left} of the other {among} pairs {'differs' if left == 1 else 'differ'} significantly"
        if not left:
            which = in_words(names[1:]) if others < _MOST_NAMES else f"the {others} others"
            rest = f"no significant difference between {which}"
        return f"{first.system} is significantly better than every other system; {rest}"
    missed = in_words([name for name in names[1:] if name not in first.better_than])
    lead = f"{first.system} is significantly better than {won} of the {others} others, but not than {missed}"
    if not won:
        lead = "No system is significantly better than every other one"
    if last.best == len(names):
        lead += f"; {last.system} is significantly worse than every other one"
    return f"{lead}; {found} of {pairs} pairs differ significantly"


def leader(rows: Sequence[RankedSystem], among: Collection[str] | None = None) -> str | None:
    """Name the system that is significantly better than every other one, if one is."""
    judged = {row.system for row in rows if row.score is not None and (among is None or row.system in among)}
    leading = (r.system for r in rows if r.system in judged and judged - {r.system} <= {*r.better_than})
    return next(leading, None) if len(judged) > 1 else None


def unbeaten(rows: Sequence[RankedSystem]) -> list[str]:
    """Name the systems that no other one is significantly better than."""
    beaten = {name for row in rows for name in row.better_than}
    return [row.system for row in rows if row.best is not None and row.system not in beaten]


Place = tuple[str, str]
"""Language pair and annotator."""


def headline(
    rankings: Mapping[Place, Sequence[RankedSystem]],
    gold: Collection[str] = (),
    few: Mapping[Place, str] | None = None,
) -> str:
    """State what all rankings show together; annotators are compared on systems that both of them judged."""
    weak = {key: words for key, words in (few or {}).items() if words}
    judged = {key: rows for key, rows in rankings.items() if any(row.score is not None for row in rows)}
    if len(rankings) == 1 or not judged:
        return finding(next(iter(rankings.values()), ()), next(iter(weak.values()), ""))
    told = {key: rows for key, rows in judged.items() if not is_loose(rows)}
    untested = [key for key in told if key in weak]
    if len(untested) == len(told):
        said = {weak[key] for key in untested} or {LOOSE}
        return said.pop() if len(said) == 1 else "Too few segments or documents to test in any ranking"
    left = len(judged) - len(told)
    told = {key: rows for key, rows in told.items() if key not in weak}
    systems = sorted({name for rows in told.values() for name in _judged(rows)})
    lps = dict.fromkeys(lp for lp, _ in told)
    pairs = f"all {len(lps)} language pairs" if len(lps) > 2 else "both language pairs"
    if len(systems) == 1:
        return f"Only {systems[0]} was judged" + (f", in {pairs}" if len(lps) > 1 else "")
    common = {lp: _common(rows for (other, _), rows in told.items() if other == lp) for lp in lps}
    is_whole = all(_judged(rows) == common[lp] for (lp, _), rows in told.items())
    leading = {(lp, who): leader(rows, common[lp]) for (lp, who), rows in told.items()}
    agreed = is_whole and len(set(leading.values())) == 1
    partly = _partly(judged, gold)
    if left:
        partly += f"; {count(left, 'more ranking')} {form(left, 'lacks', 'lack')} common segments"
    if n := len(untested):
        partly += (
            f"; {count(n, 'more ranking')} {form(n, 'has', 'have')} too few segments or documents to test"
        )
    if not agreed and (words := _beside(told, gold, "gold", pairs)):
        return words + partly
    if any(len(names) < 2 for names in common.values()) and not is_whole:
        return "The annotators did not judge the same systems"
    kept = {key: [row for row in rows if row.system in common[key[0]]] for key, rows in told.items()}
    words = (_agreement(leading, pairs) or _disagreement(kept, leading, pairs)) + partly
    return words if is_whole else f"{_without(told, common)}: {words}"


def _partly(judged: Mapping[Place, object], gold: Collection[str]) -> str:
    """Say who judged some of the language pairs only, so that nobody is taken to have shown it in all."""
    lps = dict.fromkeys(lp for lp, _ in judged)
    found: dict[tuple[str, ...], list[str]] = {}
    for who in dict.fromkeys(annotator for _, annotator in judged if annotator not in gold):
        found.setdefault(tuple(lp for lp in lps if (lp, who) in judged), []).append(who)
    return "".join(
        f"; {_who(names)} judged {in_words(own)} only" for own, names in found.items() if len(own) < len(lps)
    )


def _who(names: Sequence[str]) -> str:
    return in_words(names) if len(names) <= 3 else f"{len(names)} annotators"


def _without(told: Mapping[Place, Sequence[RankedSystem]], common: Mapping[str, set[str]]) -> str:
    left = dict.fromkeys(
        row.system
        for (lp, _), rows in told.items()
        for row in rows
        if row.score is not None and row.system not in common[lp]
    )
    return f"Without {in_words([*left], 3)}, which not every annotator judged"


def _judged(rows: Sequence[RankedSystem]) -> set[str]:
    return {row.system for row in rows if row.score is not None}


def _common(rankings: Iterable[Sequence[RankedSystem]]) -> set[str]:
    return set.intersection(*map(_judged, rankings))


def _agreement(leading: Mapping[Place, str | None], pairs: str) -> str | None:
    """Say that all rankings have one best system, or that none has any; None where they differ."""
    if len(set(leading.values())) > 1:
        return None
    (name,) = set(leading.values())
    several = len({lp for lp, _ in leading}) > 1
    if name is None:
        where = ", in any language pair" if several else ""
        return f"No system is significantly better than every other one{where}"
    annotators = len({annotator for _, annotator in leading})
    agreed = f"{'All' if annotators > 2 else 'Both'} annotators agree: " if annotators > 1 else ""
    return f"{agreed}{name} is significantly better than every other system" + (
        f" in {pairs}" if several else ""
    )


def _beside(
    told: Mapping[Place, Sequence[RankedSystem]], whose: Collection[str], name: str, pairs: str
) -> str | None:
    """Say what the rankings of some annotators show, and who of the others shows it; None without others.

    Who did not rank a leader beside another of their systems can neither show nor deny it.
    """
    lps = list(dict.fromkeys(lp for lp, annotator in told if annotator in whose))
    own = {lp: [r for (other, a), r in told.items() if other == lp and a in whose] for lp in lps}
    systems = {lp: _common(rankings) for lp, rankings in own.items()}
    others: dict[str, dict[str, Sequence[RankedSystem]]] = {}
    for (lp, annotator), rows in told.items():
        if annotator not in whose and lp in systems:
            others.setdefault(annotator, {})[lp] = rows
    if not others:
        return None
    if any(len(set(map(leader, rankings))) > 1 for rankings in own.values()):
        return f"The rankings of {name} do not agree on which system is best"
    claims = {lp: leader(rankings[0]) for lp, rankings in own.items()}
    parts = [_claim(claims, pairs if {lp for lp, _ in told} == {*lps} else in_words(lps), told, name)]
    silent = [
        a
        for a, found in others.items()
        if any(claims[lp] and not _ranks(rows, claims[lp] or "", systems[lp]) for lp, rows in found.items())
    ]
    astray = [
        a
        for a, found in others.items()
        if a not in silent and any(leader(rows, systems[lp]) != claims[lp] for lp, rows in found.items())
    ]
    contrary = [
        a
        for a in astray
        if any(
            claims[lp] in row.better_than and row.system in systems[lp]
            for lp, rows in others[a].items()
            for row in rows
        )
    ]
    agreed = [annotator for annotator in others if annotator not in {*silent, *astray}]
    if not any(claims.values()):
        parts += [f"{_who(astray)} {form(len(astray), 'shows', 'show')} one"] if astray else []
        return "; ".join(parts)
    if agreed or astray:
        parts.append(_shown(agreed, [a for a in astray if a not in contrary], contrary))
    if silent:
        parts.append(f"{_who(silent)} did not rank {in_words(sorted({*filter(None, claims.values())}))}")
    return "; ".join(parts)


def _claim(
    claims: Mapping[str, str | None], pairs: str, told: Collection[Place], by: str | None = None
) -> str:
    """Say which system is best in which language pair, by one annotator.

    `claims`: language pair to the leader, None where there is none. `by`: whose ranking it is; None where all
    rankings are one annotator's.
    """
    places: dict[str | None, list[str]] = {}
    for lp, name in sorted(claims.items(), key=lambda each: each[1] is None):
        places.setdefault(name, []).append(lp)
    several = len({lp for lp, _ in told}) > 1
    if {*places} == {None}:
        where = f", in {'any language pair' if len(claims) > 1 else pairs}" if several else ""
        return f"By {by}, no system is significantly better than every other one{where}"
    if len({*places} - {None}) > 2:
        return f"{'Which' if by is None else f'By {by}, which'} system is best depends on the language pair"
    (name, own), *rest = places.items()
    where = f" in {in_words(own) if rest else pairs}" if several else ""
    more = "".join(f", {other or 'none'} in {in_words(lps)}" for other, lps in rest)
    start = "" if by is None else f"By {by}, "
    return f"{start}{name} is significantly better than every other system{where}{more}"


def _ranks(rows: Sequence[RankedSystem], name: str, systems: Collection[str]) -> bool:
    both = _judged(rows).intersection(systems)
    return name in both and len(both) > 1


def _shown(agreed: Sequence[str], unsure: Sequence[str], contrary: Sequence[str]) -> str:
    """Who shows what gold shows, who does not tell, and who finds the opposite."""
    parts = []
    if agreed:
        parts.append(f"{_who(agreed)} {'shows' if len(agreed) == 1 else 'show'} it too")
    if unsure:
        does = "does not" if len(unsure) == 1 else "do not"
        parts.append(f"{_who(unsure)} {does}" + ("" if agreed else " show it"))
    if contrary:
        parts.append(f"{_who(contrary)} {'contradicts' if len(contrary) == 1 else 'contradict'} it")
    return ", ".join(parts)


def _disagreement(
    told: Mapping[Place, Sequence[RankedSystem]], leading: Mapping[Place, str | None], pairs: str
) -> str:
    by_lp = grouped((lp, name) for (lp, _), name in leading.items() if name is not None)
    if any(len({*names}) > 1 for names in by_lp.values()):
        return "The annotators do not agree on which system is best"
    wins = Counter(who for (_, who), name in leading.items() if name is not None)
    ((first, _),) = wins.most_common(1)
    alone = {lp: name for (lp, who), name in leading.items() if who == first}
    return _beside(told, [first], first, pairs) or _claim(alone, pairs, told)


def card_words(passing: PassMark) -> str:
    """What a scorecard asks, and what its numbers are."""
    critical, holes = passing.critical, passing.untranslated
    asked = [
        f"at most {passing.points:g} points per {passing.words:,g} words of the {passing.text}",
        "" if critical is None else f"and critical errors in at most {count(critical, 'translation')}",
        "" if holes is None else f"and fails with more than {count(holes, 'segment')} not translated",
    ]
    return (
        f"A scorecard passes with {', '.join(filter(None, asked))}. Quality is 100 less the points in "
        "100 words. A scorecard is open where segments without a score could still make it fail."
    )
