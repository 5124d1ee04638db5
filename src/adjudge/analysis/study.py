"""A whole campaign, analysed as the ESA paper analyses its own; a half-done one gives what it can.

`analyse` puts the sections of the other `study_` modules together; the profile of errors and ratings, and
what goes along with a rating, are computed here. Where a definition of the paper has a flaw, both stand
there, `paper` and `mended` (specified where they are computed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from adjudge.analysis.rank import Ranking, rank
from adjudge.analysis.segment_scores import score_records
from adjudge.analysis.study_agreement import (
    LEAST_SHARED,
    PairAgreement,
    Twice,
    agreement_section,
    annotator_section,
    count_errors,
    gold_section,
    overlap_section,
    pair_agreements,
    twice_judged,
)
from adjudge.analysis.study_people import (
    assistance_section,
    check_section,
    drift_section,
    pace_section,
    progress_curve,
    seconds_by_person,
)
from adjudge.analysis.study_pieces import (
    Key,
    Number,
    Piece,
    Section,
    final_pieces,
    has_marks,
    has_ratings,
    left_out,
    over_segments,
    pieces_of,
    ratio_of,
)
from adjudge.analysis.study_systems import (
    Beside,
    SubsetCurves,
    comparison_sections,
    draft_section,
    preferences_of,
    ranked,
    subset_section,
    system_section,
    systems_beside,
    weight_section,
)
from adjudge.core.frozen import frozen
from adjudge.core.language import one_spelling
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Annotation, Preference, by_pair, grouped
from adjudge.core.verb import Mismatched
from adjudge.errors import AdjudgeError, UsageError
from adjudge.formats.campaign_export import CampaignFile, Submission, campaign_test_set, of_latest_pass
from adjudge.formats.join import put_together
from adjudge.formats.read import Judgements
from adjudge.stats.bootstrap import NO_INTERVAL, Draws, mean_of
from adjudge.stats.correlation import pearson
from adjudge.stats.judged import Floats, Result


def error_profile(severities: Sequence[Sequence[str]], draws: Draws = NO_INTERVAL) -> dict[str, Result]:
    """Errors a translation, share of minor and of major ones, share of translations without any.

    The ESA paper, table 1: a critical error is a major one, and what is neither is in neither share.
    """
    minor = count_errors(severities, ("minor",))
    major = count_errors(severities, ("major", "critical"))
    every = count_errors(severities)
    return {
        "errors a translation": mean_of(every, draws, "nothing was judged"),
        "share of minor errors": ratio_of(minor, minor + major, draws, "no error was marked"),
        "share of major errors": ratio_of(major, minor + major, draws, "no error was marked"),
        "share without errors": mean_of((every == 0).astype(np.float64), draws, "nothing was judged"),
    }


def bins_of(values: Floats, low: float, high: float) -> Iterator[tuple[str, int]]:
    """How many ratings lie in each tenth of the scale; the last one holds the best rating. Figure 3."""
    amounts, edges = np.histogram(values, bins=10, range=(low, high))
    for place, amount in enumerate(amounts.tolist()):
        yield f"{edges[place]:g} to {edges[place + 1]:g}", amount


def token_counts(texts: Sequence[str]) -> Floats:
    """Words of each text, split at white space."""
    return np.array([float(len(text.split())) for text in texts])


def features_of_ratings(
    ratings: Floats,
    lengths: Mapping[str, Floats],  # `source` and `target` to the tokens of each
    severities: Sequence[Sequence[str]],
    missing: Floats,
) -> dict[str, Result]:
    """Pearson of ratings with lengths and errors, plain and for each token. The ESA paper, table 7."""
    errors = {
        "minor": count_errors(severities, ("minor",)),
        "major": count_errors(severities, ("major",)),
        "missing": missing,
    }
    tokens = np.maximum(lengths["target"], 1)
    features = {f"{name} tokens": values for name, values in lengths.items()}
    features |= {f"{name} errors": values for name, values in errors.items()}
    features |= {f"{name} errors a token": values / tokens for name, values in errors.items()}
    return {name: pearson(ratings, values) for name, values in features.items()}


def profile_section(final: Sequence[Piece], draws: Draws) -> Section:
    """Ratings, points and errors, of all and of each system. The ESA paper, table 1 and figure 3."""
    numbers: list[Number] = []
    for who in ("all", *sorted({piece.annotation.system for piece in final})):
        own = [piece for piece in final if who in {"all", piece.annotation.system}]
        drawing = over_segments(own, draws)
        found: dict[str, Result] = {}
        if own and own[0].rating is not None:
            found["rating"] = mean_of(np.array([p.score for p in own]), drawing, "nothing was judged")
        if has_marks(own):
            found["points"] = mean_of(np.array([p.points for p in own]), drawing, "nothing was judged")
            found |= error_profile([p.severities for p in own], drawing)
        numbers += [Number(of=who, measure=m, result=r) for m, r in found.items()]
    protocol = find_protocol(final[0].annotation.protocol) if final else None
    if protocol is not None and protocol.low is not None and protocol.high is not None:
        ratings = np.array([piece.score for piece in final])
        for words, amount in bins_of(ratings, protocol.low, protocol.high):
            result = Result(value=amount / len(final), n=len(final))
            numbers.append(Number(of="all", measure=f"share rated {words}", result=result))
    notes = () if final else ("Nothing is judged yet.",)
    return Section(name="profile", title="What do people mark and rate?", numbers=tuple(numbers), notes=notes)


def feature_section(final: Sequence[Piece]) -> Section:
    """Ratings beside lengths and errors. The ESA paper, table 7."""
    lengths = {
        "source": token_counts([piece.submission.source for piece in final]),
        "target": token_counts([piece.text for piece in final]),
    }
    ratings = np.array([piece.score for piece in final])
    missing = [float(sum(s.start is None for s in piece.errors)) for piece in final]
    found = features_of_ratings(ratings, lengths, [p.severities for p in final], np.array(missing))
    numbers = [Number(of=name, measure="Pearson with the rating", result=r) for name, r in found.items()]
    notes = ("Tokens are split at white space, which Chinese, Japanese and Thai do not have.",)
    return Section(
        name="features", title="What goes along with the rating?", numbers=tuple(numbers), notes=notes
    )


@frozen
class Curves:
    """What figures are drawn from."""

    scores: Mapping[str, Sequence[float]] = field(default_factory=dict)
    top: float = 0.0  # the best score there is
    what: str = "score"
    twice: Sequence[Twice] = ()  # who judged twice, with both scores
    # how far every two order the systems alike; empty where there are few systems
    annotators: Sequence[PairAgreement] = ()
    beside: Beside | None = None  # systems beside gold; None without gold
    # seconds of a segment by how much of the work is done, in as many steps as there are
    pace: Floats = field(default_factory=lambda: np.zeros(0))
    # correlation with ratings of each of `study_systems.WEIGHTS`; empty where there is none
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    subsets: SubsetCurves = field(default_factory=dict)  # definition to sizes and shares


@frozen
class Analysis:
    """All of it."""

    name: str
    protocol: str
    sections: tuple[Section, ...]  # in the order in which they are read
    rankings: Mapping[str, Ranking]  # by `rating`, by `points`, by criterion; the only one has the name `""`
    curves: Curves  # what figures are drawn from
    notes: tuple[str, ...] = ()  # what was left out of everything
    lp: str = ""  # language pair; empty where nobody judged anything

    def section(self, name: str) -> Section:
        return next(section for section in self.sections if section.name == name)


def analyse(
    campaign: CampaignFile,
    *,
    gold: Judgements | None = None,
    beside: CampaignFile | None = None,
    mismatched: Mismatched = "refuse",
    weights: str | None = None,  # of marked errors; None for `esa-spans` with ESA, `mqm-google` with MQM
    draws: Draws | None = None,
) -> Analysis:
    """Analyse a campaign of one language pair; `formats.campaign_export.apart` gives each of several."""
    draws = draws or Draws(resamples=1000)
    pairs = by_pair(campaign.submissions)
    if len(pairs) > 1:
        raise UsageError(
            f"{campaign.name} has several language pairs, each to be analysed alone: {', '.join(pairs)}"
        )
    pieces = pieces_of(campaign.submissions, weights)
    other, known, told = _of_the_same_texts(campaign, beside, gold, weights, mismatched)
    notes = (*left_out(campaign.submissions), *told)
    kept = [s for s in campaign.submissions if s.is_last]
    latest = final_pieces(pieces)
    times = Counter(piece.key for piece in latest)
    amounts = {
        "submissions": len(campaign.submissions),
        "people": len({s.person for s in kept}),
        **{f"items of kind {kind}": n for kind, n in sorted(Counter(s.kind for s in kept).items())},
        "documents": len({(s.lp, s.document) for s in kept if s.kind != "tutorial"}),
        "segments": len({(s.lp, s.segment) for s in kept if s.kind != "tutorial"}),
    }
    if latest:
        amounts |= {
            "systems": len({piece.annotation.system for piece in latest}),
            "translations": len(times),
            "translations judged by several people": sum(n > 1 for n in times.values()),
        }
    numbers = [
        Number(of="all", measure=name, result=Result(value=float(n), n=n)) for name, n in amounts.items()
    ]
    counts = Section(name="counts", title="What is there?", numbers=tuple(numbers))
    if not pieces:
        return _of_others(campaign, counts, notes, draws)
    twice = twice_judged(pieces, other, beside.name if beside else "")
    marks, scores = {(r.lp, r.segment, r.system): r for r in known}, _gold_scores(known, weights)
    against = systems_beside(pieces, scores)
    rankings, no_ranking = ranked(pieces, draws)
    subsets, curves = subset_section(pieces, draws)
    final = final_pieces(pieces)
    has_both = has_marks(final) and has_ratings(final)
    scan, correlations = weight_section(final, draws)
    people = pair_agreements(piece.annotation for piece in final)
    if all(pair.over_systems.n < LEAST_SHARED for pair in people):
        people = []
    sections = [
        counts,
        profile_section(final, draws),
        *_where(system_section(pieces, against), is_wanted=bool(final)),
        *_where(gold_section(pieces, scores, draws), is_wanted=bool(known)),
        agreement_section(pieces, twice, draws),
        *_where(annotator_section(final, people), is_wanted=bool(people)),
        *_where(overlap_section(pieces, twice, marks), is_wanted=has_marks(final)),
        check_section(pieces, draws),
        *_where(assistance_section(pieces, draws), is_wanted=campaign.protocol == "esa-ai"),
        pace_section(campaign.submissions),
        drift_section(pieces),
        *_where(feature_section(final), is_wanted=has_both),
        *_where(scan, is_wanted=has_both),
        subsets,
    ]
    return Analysis(
        name=campaign.name,
        protocol=campaign.protocol,
        sections=tuple(sections),
        rankings=rankings,
        notes=(*notes, *no_ranking),
        lp=pieces[0].annotation.lp,
        curves=replace(
            _curves(final),
            twice=twice,
            annotators=people,
            beside=against,
            pace=_pace(campaign.submissions),
            weights=correlations,
            subsets=curves,
        ),
    )


def _where(section: Section, *, is_wanted: bool) -> tuple[Section, ...]:
    return (section,) if is_wanted else ()


def _of_the_same_texts(
    campaign: CampaignFile,
    beside: CampaignFile | None,
    gold: Judgements | None,
    weights: str | None,
    mismatched: Mismatched,
) -> tuple[list[Piece], list[Annotation], Sequence[str]]:
    """What another campaign and gold say of the texts of this one, and what must be said of their texts."""
    if beside is None and gold is None:
        return [], [], ()
    files = [campaign, *([] if beside is None else [beside])]
    lps = [{s.lp for s in file.submissions} for file in files]
    files = [file.spelled(names) for file, names in zip(files, one_spelling(lps), strict=True)]
    every = [[*pieces_of(file.submissions, weights)] for file in files]
    sides = [
        Judgements(
            name=file.name, records=tuple(p.annotation for p in pieces), test_set=campaign_test_set(file)
        )
        for file, pieces in zip(files, every, strict=True)
    ]
    joined, told = put_together([*sides, *([] if gold is None else [gold])], "translations", mismatched)
    judged = joined.pop().records if gold is not None else ()
    known = [r for r in judged if isinstance(r, Annotation) and r.lp in lps[0]]
    left = {id(record) for record in joined[-1].records}
    return [p for p in every[-1] if beside is not None and id(p.annotation) in left], known, told


def _gold_scores(gold: Sequence[Annotation], weights: str | None) -> dict[Key, float]:
    if not gold:
        return {}
    found = score_records(gold, weights=weights if gold[0].protocol == "mqm" else None).segments
    return {(s.lp, s.segment, s.system): s.score for s in found if s.score is not None}


def _of_others(campaign: CampaignFile, counts: Section, notes: Sequence[str], draws: Draws) -> Analysis:
    judged = preferences_of(campaign.submissions)
    rankings: dict[str, Ranking] = {}
    told = list(notes)
    final = of_latest_pass(judged, lambda one: one[0].kind, lambda one: _compared(one[1]))
    records = {(*_compared(p), p.annotator): p for _, p in final}
    for criterion in dict.fromkeys(p.criterion for _, p in judged):
        try:
            scores = score_records(records.values(), criterion=criterion)
            rankings[criterion] = rank(
                scores, method="copeland", resamples=max(1, draws.resamples), seed=draws.seed
            )
        except AdjudgeError as error:
            told.append(f"No ranking by {criterion}: {error}.")
    wrote = any(s.chosen is not None for s in campaign.submissions)
    sections = [
        counts,
        *(comparison_sections(campaign.submissions, draws) if judged else ()),
        *_where(draft_section(campaign.submissions), is_wanted=wrote),
        pace_section(campaign.submissions),
    ]
    return Analysis(
        name=campaign.name,
        protocol=campaign.protocol,
        sections=tuple(sections),
        rankings=rankings,
        notes=tuple(told),
        lp=next((s.lp for s in campaign.submissions), ""),
        curves=Curves(pace=_pace(campaign.submissions)),
    )


def _compared(one: Preference) -> tuple[str, str, frozenset[str], str]:
    return one.lp, one.segment, frozenset(one.systems), one.criterion


def _curves(final: Sequence[Piece]) -> Curves:
    if not final:
        return Curves()
    scores = grouped((piece.annotation.system, piece.score) for piece in final)
    ordered = dict(sorted(scores.items(), key=lambda item: -float(np.mean(item[1]))))
    top = find_protocol(final[0].annotation.protocol).high
    return Curves(scores=ordered, top=0.0 if top is None else top, what="points" if top is None else "rating")


def _pace(submissions: Sequence[Submission]) -> Floats:
    return progress_curve([own for _, own in seconds_by_person(submissions, "mended").values()])
