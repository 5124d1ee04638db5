"""What is frozen: commands on the examples, on recorded campaigns and on public data.

Everything goes through the command line in this process, so that no case knows where a module stands. Paths
in the arguments are relative to a folder in which `Workspace` puts inputs and, when needed, runs.
"""

import contextlib
import io
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import adjudge
from adjudge.cli.main import main

RECORDED: Final = Path(__file__).parent / "recorded"
PROFILES: Final = ("recommended", "paper", "code")
JUDGES: Final = (
    *("gemba-mqm", "gemba-da", "gemba-sqm", "gemba-esa", "gemba-v2", "ea-prompt", "single-agent", "himate"),
    *("m-mad", "fire", "rate", "direct-rank", "criteria"),
)
METRICS: Final = ("bleu", "chrf", "chrf++", "ter", "rules")
STORES: Final = tuple(path.name.split(".")[0] for path in sorted(RECORDED.glob("*.campaign.sql")))
FILES: Final = tuple(path.name.split(".")[0] for path in sorted(RECORDED.glob("*.campaign.jsonl")))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A command, what must be there before it, and the files that it writes.

    Args:
        group: the frozen file that it stands in.
        name: its key there.
        arguments: of the command line.
        needs: commands, each run once in a workspace.
        writes: files or folders whose content is frozen beside what is printed.
        is_real: whether it needs the public test sets.
    """

    group: str
    name: str
    arguments: str
    needs: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    is_real: bool = False


class Workspace:
    """A folder with the bundled examples, the recorded campaigns and, as `data`, the public test sets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done: set[str] = set()
        (examples,) = {path.parent for path in Path(adjudge.__file__).parent.rglob("gold.pairwise.jsonl")}
        for path in examples.glob("*.jsonl"):
            (folder / path.name).write_bytes(path.read_bytes())
        few = [line for line in _lines(folder / "test_set.jsonl") if json.loads(line)["segment"] == "2"]
        (folder / "few.jsonl").write_text("".join(line + "\n" for line in few), "utf-8", newline="")
        for name in ("esa", "mqm", "pairwise"):
            gold = [
                line
                for line in _lines(folder / f"gold.{name}.jsonl")
                if (json.loads(line)["lp"], json.loads(line)["segment"]) in {("en-de", "1"), ("en-de", "2")}
            ]
            (folder / f"few.{name}.jsonl").write_text("".join(x + "\n" for x in gold), "utf-8", newline="")
        half = _lines(folder / "gold.mqm.jsonl")
        kept = [one for n, one in enumerate(half) if n // 4 % 2 == 0 and json.loads(one)["lp"] == "en-de"]
        (folder / "half.mqm.jsonl").write_text("".join(one + "\n" for one in kept), "utf-8", newline="")
        for name in ("first", "converted", "exported", "imported"):
            (folder / name).mkdir()
        for name, text in TEXTS.items():
            (folder / name).write_text(text, "utf-8", newline="")
        for path in RECORDED.glob("*.campaign.jsonl"):
            (folder / path.name).write_bytes(path.read_bytes())
        for name in STORES:
            _restore(name, folder)

    def do(self, command: str) -> None:
        """Run a command that others need, once."""
        if command not in self.done:
            code, _, said = call(command.split())
            assert code == 0, f"adjudge {command}: {said}"
            self.done.add(command)

    def found(self, case: Case) -> Any:
        """Exit code, what was printed and what was written, in types of JSON."""
        for command in case.needs:
            self.do(command)
        code, out, _ = call(case.arguments.split())
        found: dict[str, Any] = {"command": f"adjudge {case.arguments}", "code": code}
        if out:
            found["printed"] = read(out)
        for name in case.writes:
            if not (self.folder / name).exists():
                found[name] = "is not written"
                continue
            for path in _files(self.folder / name):
                found[path.relative_to(self.folder).as_posix()] = read(path.read_bytes().decode())
        return found


def call(arguments: Iterable[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main(list(arguments))
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    out.flush()
    return code, out.buffer.getvalue().decode(), said.getvalue()


class _Words(HTMLParser):
    """What a page shows, line by line, without styles and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.hidden = 0
        self.lines: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in {"style", "script"}

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"style", "script"}

    def handle_data(self, data: str) -> None:
        if not self.hidden and data.strip():
            self.lines.append(" ".join(data.split()))


def read(text: str) -> Any:
    """JSON as its value, JSON lines as theirs if these say every byte, pages as words, the rest as lines."""
    if text.lower().startswith("<!doctype html"):
        return _Words(text).lines
    with contextlib.suppress(ValueError):
        return json.loads(text)
    lines = text.split("\n")
    with contextlib.suppress(ValueError):
        values = [json.loads(line) for line in lines[:-1]]
        if [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in values] + [""] == lines:
            return {"compact JSON lines": values}
    return lines


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(one for one in path.rglob("*") if one.is_file())
    else:
        yield path


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _restore(name: str, folder: Path) -> None:
    """A campaign as a folder, of the statements that its store was written out as."""
    campaign = folder / "stores" / name
    campaign.mkdir(parents=True)
    (campaign / "guidelines").mkdir()
    about = {"name": name, "protocol": name, "database": "campaign.sqlite", "version": 1}
    (campaign / "campaign.json").write_text(json.dumps(about))
    with contextlib.closing(sqlite3.connect(campaign / "campaign.sqlite")) as store:
        store.executescript((RECORDED / f"{name}.campaign.sql").read_text("utf-8"))


TEXTS: Final = {
    "source.txt": "The tram stops here.\nTea or coffee?\n",
    "one.txt": "Die Straßenbahn hält hier.\nTee oder Kaffee?\n",
    "two.txt": "Hier hält die Tram.\nTee?\n",
    "table.csv": "id,source,Alder,Birch,reference\n1,A sofa,Ein Sofa,Sofa,Ein Sofa\n2,Tea?,Tee?,Ja?,Tee?\n",
    "memory.tmx": (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header creationtool="x" '
        'creationtoolversion="1" segtype="sentence" o-tmf="x" adminlang="en" srclang="en" '
        'datatype="plaintext"/>'
        '<body><tu tuid="1"><tuv xml:lang="en"><seg>A sofa</seg></tuv><tuv xml:lang="de"><seg>Ein Sofa</seg>'
        "</tuv></tu></body></tmx>\n"
    ),
    "words.po": (
        'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'
        'msgid "A sofa"\nmsgstr "Ein Sofa"\n'
    ),
    "texts.xlf": (
        '<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" '
        'xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" '
        'target-language="de" datatype="plaintext"><body><trans-unit id="1"><source>A <g id="1">sofa</g>'
        '</source><target>Ein <g id="1">Sofa</g></target></trans-unit></body></file></xliff>\n'
    ),
}


# Runs...


def run_of(name: str, test_set: str, out: str, more: str = "") -> str:
    model = "" if name in METRICS else "--model builtin/rules "
    return f"run {name} {test_set} --out {out} {model}{more}".strip()


CHRF = run_of("chrf", "test_set.jsonl", "runs/chrf")
MQM = run_of("gemba-mqm", "test_set.jsonl", "runs/gemba-mqm")
ESA = run_of("gemba-esa", "test_set.jsonl", "runs/gemba-esa")
FIRE = run_of("fire", "test_set.jsonl", "runs/fire", "--lp en-de --limit 6")
CRITERIA = run_of("criteria", "test_set.jsonl", "runs/criteria")
RANK = run_of("direct-rank", "test_set.jsonl", "runs/direct-rank", "--lp en-de --limit 6")
RUN_FILES = ("records.jsonl", "run.json")


def way(judge: str, profile: str) -> str:
    """The options of a profile; rate's own wants an engine, or that it is said that there is none."""
    ablation = " --without search" if judge == "rate" and profile != "recommended" else ""
    return f"--profile {profile}{ablation}"


def recorded_run(judge: str, profile: str) -> str:
    """The command of a run that others replay; its calls are in the fifth word."""
    return run_of(judge, "few.jsonl", f"recorded/{judge}-{profile}", way(judge, profile))


def runs() -> Iterator[Case]:
    for judge in JUDGES:
        for profile in PROFILES:
            out = f"judged/{judge}-{profile}"
            arguments = run_of(judge, "few.jsonl", out, way(judge, profile))
            yield Case(
                group="records",
                name=f"{judge} {profile}",
                arguments=arguments,
                writes=tuple(f"{out}/{file}" for file in RUN_FILES),
            )
            if profile == "recommended":
                first = recorded_run(judge, profile)
                replay = f"run {judge} few.jsonl --out replayed/{judge} --model replay:{first.split()[4]}"
                yield Case(
                    group="records",
                    name=f"{judge} replayed",
                    arguments=replay,
                    needs=(first,),
                    writes=(f"replayed/{judge}/records.jsonl",),
                )
            yield Case(
                group="messages",
                name=f"{judge} {profile}",
                arguments=f"show {judge} --profile {profile} --format json",
            )
    for metric in METRICS:
        out = f"judged/{metric}"
        yield Case(
            group="records",
            name=metric,
            arguments=run_of(metric, "few.jsonl", out),
            writes=tuple(f"{out}/{file}" for file in RUN_FILES),
        )
    sampled = "--samples 3 --temperature 0.5 --lp en-de"
    for judge in ("gemba-mqm", "gemba-da", "fire", "rate"):
        out = f"judged/{judge}-sampled"
        yield Case(
            group="records",
            name=f"{judge} sampled",
            arguments=run_of(judge, "few.jsonl", out, sampled),
            writes=tuple(f"{out}/{file}" for file in RUN_FILES),
        )
    for pairs in ("sampled --pairs-per-segment 2", "anchored --anchors Alder", "adaptive"):
        out = f"judged/fire-pairs-{pairs.split()[0]}"
        yield Case(
            group="records",
            name=f"fire pairs {pairs.split()[0]}",
            arguments=run_of("fire", "few.jsonl", out, f"--pairs {pairs}"),
            writes=(f"{out}/records.jsonl",),
        )


# Results...


def results() -> Iterator[Case]:
    def case(arguments: str, *needs: str, writes: tuple[str, ...] = (), form: str = "json") -> Case:
        asked = f"{arguments} --format {form}" if form else arguments
        return Case(
            group="results",
            name=arguments + f" {form}" * (form != "json"),
            arguments=asked,
            needs=needs,
            writes=writes,
        )

    mqm, pairwise = "gold.mqm.jsonl", "gold.pairwise.jsonl"
    for level in ("seg", "doc", "sys"):
        yield case(f"score {mqm} --lp en-de --level {level}")
    for weights in ("mqm-google", "mqm-google-2021", "gemba"):
        yield case(f"score {mqm} --weights {weights}")
    yield case(f"score {pairwise} --lp en-de --criterion fluency")
    yield case(f"score {mqm} --lp en-de", form="csv")
    yield case(f"rank {mqm} --lp en-de", form="markdown")
    yield case("score runs/gemba-mqm", MQM, writes=())
    yield case("score runs/chrf --score-files scores", CHRF, writes=("scores",))
    yield case(f"rank {mqm} gold.esa.jsonl --resamples 200")
    yield case(f"rank {mqm} --by-document --test wilcoxon --lp zh-en --resamples 200")
    yield case(f"rank {mqm} --test rank-sum --lp en-de --resamples 200")
    for method in ("copeland", "bradley-terry", "davidson"):
        yield case(f"rank {pairwise} --lp en-de --criterion overall --method {method} --resamples 50")
    yield case("rank runs/fire --resamples 50", FIRE)
    yield case(f"bias runs/fire runs/gemba-mqm --gold {pairwise} --lp en-de --resamples 50", FIRE, MQM)
    yield case("bias runs/direct-rank --resamples 50", RANK)
    yield case("score runs/criteria --lp en-de", CRITERIA)
    yield case("score runs/criteria --lp en-de --criterion all-pass --level seg", CRITERIA)
    yield case("score runs/criteria --criterion hours", CRITERIA, form="csv")
    yield case("rank runs/criteria --criterion all-pass --resamples 50", CRITERIA)
    yield case("compare runs/criteria --systems Alder,Dogwood", CRITERIA)
    yield case("gate --baseline runs/criteria --systems Dogwood,Alder --margin 0.1", CRITERIA)
    yield case(f"compare {mqm} Alder Birch")
    yield case(f"compare runs/gemba-mqm {mqm} --systems Birch,Birch", MQM)
    yield case(f"compare {mqm} Birch Cedar --test wilcoxon --holm --lp en-de")
    yield case(f"compare {mqm} Birch Cedar --test bootstrap --by-document")
    for systems in ("Alder,Birch", "Birch,Alder"):
        yield case(f"gate --baseline {mqm} --systems {systems} --margin 2")
    yield case(f"spans runs/gemba-mqm --gold {mqm} --rules all", MQM)
    yield case(f"spans runs/gemba-mqm --gold {mqm} --by category --average macro", MQM)
    yield case(f"spans runs/gemba-mqm --gold {mqm} --confusion", MQM)
    yield case(f"agreement {mqm} runs/gemba-mqm", MQM)
    yield case(f"agreement {mqm} runs/gemba-mqm --by-criterion --lp en-de", MQM)
    yield case(f"agreement {pairwise} runs/fire --lp en-de", FIRE)
    yield case(f"agreement {mqm} gold.esa.jsonl --pairs --tie 1 --resamples 50")
    yield case(f"agreement {mqm} runs/gemba-mqm --judge runs/gemba-esa --lp en-de", MQM, ESA)
    yield case(f"power {mqm} Alder Birch --lp en-de --resamples 200")
    yield case("power --sd 4 --annotator-sd 1 --difference 1")
    yield case("power --sd 4 --segments 200 --annotators 2")
    yield case(
        f"thresholds runs/gemba-esa --gold {mqm} --decisions decisions.tsv", ESA, writes=("decisions.tsv",)
    )
    yield case(f"thresholds runs/chrf --gold {mqm} --guarantee average --lp en-de --bad -5", CHRF)
    about = f"gold.esa.jsonl runs/gemba-mqm --gold {mqm} --test-set test_set.jsonl"
    yield case(f"report {about} --out page.html", MQM, form="", writes=("page.html",))
    yield case("estimate runs/chrf --gold half.mqm.jsonl --lp en-de", CHRF)
    scores = f"--gold mqm={mqm} --scores runs/gemba-mqm --scores runs/chrf"
    yield case(f"meta test_set.jsonl --lp en-de {scores}", MQM, CHRF)
    yield case(f"meta test_set.jsonl --lp en-de {scores} --strata length,domain --smallest 4", MQM, CHRF)
    yield case(f"meta test_set.jsonl --lp en-de {scores} --clusters --intervals --significance 50", MQM, CHRF)
    yield case(
        f"meta test_set.jsonl --lp en-de {scores} --measures seg_mae,seg_mse --scale minmax", MQM, CHRF
    )
    yield case("calibrate himate few.jsonl --lp en-de --model builtin/rules --out himate.json")
    yield case("trace runs/gemba-mqm --segment 2 --system Cedar --lp en-de", MQM)
    for judge in (*JUDGES, "chrf"):
        model = " --model builtin/rules" * (judge != "chrf")
        yield case(f"forecast {judge} few.jsonl{model}")
    for what in (
        "judges",
        "metrics",
        "measures",
        "tasks",
        "models",
        "protocols",
        "weights",
        "formats",
        "test-sets",
    ):
        yield case(f"list {what}")
    yield case("list judges", form="csv")
    yield case(
        "curate pairs test_set.jsonl --lp en-de --pairs 12 --out drawn.jsonl --seed 3",
        writes=("drawn.jsonl",),
    )
    yield case(
        "curate select test_set.jsonl --lp en-de --budget 5 --by diversity --out chosen.jsonl",
        writes=("chosen.jsonl",),
    )
    yield case(f"curate select test_set.jsonl --lp en-de --gold {mqm} --scores runs/chrf --draws 50", CHRF)
    yield case(
        f"curate agreement {pairwise} runs/fire --lp en-de --out settled.jsonl",
        FIRE,
        writes=("settled.jsonl",),
    )
    yield case(
        "curate filter few.jsonl --model builtin/rules --top 1 --out hardest.jsonl", writes=("hardest.jsonl",)
    )


# Campaigns, exports and conversions...

EXPORTS: Final = (
    *("campaign", "records", "jsonl", "appraise", "pearmut", "mqm-tsv"),
    *("mtme-ratings", "mtme-scores", "spreadsheet"),
)


def exports() -> Iterator[Case]:
    for name in STORES:
        for form in EXPORTS:
            for more in ("", " --annotator ann") if form.startswith("mtme") else ("",):
                out = f"exported/{name}{more.replace(' --', '-').replace(' ', '-')}.{form}"
                yield Case(
                    group="exports",
                    name=f"{name} {form}{more}",
                    arguments=f"campaign export stores/{name} {out} --to {form}{more}",
                    writes=(out,),
                )
        for command in ("status", "people", "status --log", "analyse --resamples 50"):
            verb, *options = command.split(" ", 1)
            yield Case(
                group="exports",
                name=f"{name} {command}",
                arguments=" ".join(["campaign", verb, f"stores/{name}", *options, "--format json"]),
            )
    for name in FILES:
        made = f"campaign import imported/{name} {name}.campaign.jsonl"
        for form in (
            "campaign",
            "records",
            "pearmut",
            "appraise",
            "spreadsheet",
            "mtme-scores --annotator ann",
        ):
            out = f"exported/imported-{name}.{form.split()[0]}"
            yield Case(
                group="exports",
                name=f"imported {name} {form}",
                arguments=f"campaign export imported/{name} {out} --to {form}",
                needs=(made,),
                writes=(out,),
            )
        yield Case(
            group="exports",
            name=f"analysed {name}",
            arguments=f"campaign analyse {name}.campaign.jsonl --resamples 50 --format json",
        )


def conversions() -> Iterator[Case]:
    def case(name: str, arguments: str, out: str, *needs: str) -> Case:
        return Case(
            group="conversions", name=name, arguments=f"convert {arguments}", needs=needs, writes=(out,)
        )

    for form in ("jsonl", "mtme", "ment", "text"):
        out = f"converted/texts.{form}"
        more = "" if form == "jsonl" else " --lp en-de"
        written = f"few.jsonl {out} --to {form}{more}"
        yield case(f"texts to {form}", written, out)
        out, back = f"first/texts.{form}", f"converted/texts.{form}.jsonl"
        written = f"few.jsonl {out} --to {form}{more}"
        lp = " --lp en-de" if form in {"mtme", "ment", "text"} else ""
        yield case(f"texts to {form} and back", f"{out} {back} --to jsonl{lp}", back, f"convert {written}")
    for kind in ("mqm", "esa", "pairwise"):
        for form in ("records", "mqm-tsv", "wmt25", "spreadsheet", "mtme-ratings", "mtme-scores"):
            out = f"converted/{kind}.{form}"
            yield case(
                f"{kind} to {form}",
                f"few.{kind}.jsonl {out} --to {form} --lp en-de --test-set test_set.jsonl",
                out,
            )
    for form in ("mqm-tsv", "wmt25"):
        out, back = f"first/mqm.{form}", f"converted/mqm.{form}.records"
        made = f"convert few.mqm.jsonl {out} --to {form} --lp en-de --test-set test_set.jsonl"
        yield case(f"{form} to records", f"{out} {back} --to records --lp en-de", back, made)
    for kind in ("da-sqm", "esa-ai"):
        for form in ("campaign", "appraise", "pearmut", "spreadsheet"):
            out = f"converted/{kind}.{form}"
            yield case(f"{kind} to {form}", f"{kind}.campaign.jsonl {out} --to {form}", out)
    made = "convert esa-ai.campaign.jsonl first/esa-ai.pearmut --to pearmut"
    back = "converted/pearmut.records"
    yield case("pearmut to records", f"first/esa-ai.pearmut {back} --to records --lp en-de", back, made)
    judged = "run gemba-mqm texts.xlf --lp en-de --out first/judged --model builtin/rules"
    out = "converted/judged.xlf"
    yield case("a run to xliff", f"first/judged {out} --to xliff --test-set texts.xlf", out, judged)
    lines = "-s source.txt -t Alder=one.txt -t Birch=two.txt -r ref=one.txt --lp en-de"
    yield case("line-aligned files", f"{lines} converted/lines.jsonl --to jsonl", "converted/lines.jsonl")
    for name in ("table.csv", "memory.tmx", "words.po", "texts.xlf"):
        yield case(name, f"{name} converted/{name}.jsonl --to jsonl --lp en-de", f"converted/{name}.jsonl")
    for name in FILES:
        out = f"converted/{name}.records"
        yield case(f"recorded {name}", f"{name}.campaign.jsonl {out} --to records", out)


# Public test sets: numbers and names alone, no text of theirs...


def real() -> Iterator[Case]:
    def case(arguments: str, form: str = "json", writes: tuple[str, ...] = ()) -> Case:
        asked = f"{arguments} --format {form}"
        return Case(group="realdata", name=arguments, arguments=asked, is_real=True, writes=writes)

    wmt, ted = "data/wmt23", "data/mqm-tsv/mqm_ted_zhen.tsv"
    some = "BERTscore-refA,BLEU-refA,COMET-refA,GEMBA-MQM-src"
    yield case(f"meta {wmt} --lp en-de --gold mqm --task wmt23")
    ende = f"meta {wmt} --lp en-de --gold mqm --metrics {some}"
    yield case(f"meta {wmt} --lp zh-en --gold mqm --compat mtme")
    yield case(f"{ende} --clusters --significance 50 --measures sys_pearson,seg_pearson")
    yield case(f"{ende} --strata domain,length --measures seg_acc_eq,seg_kendall_b")
    yield case("meta data/ment --lp zh-en --gold ment --task ment")
    yield case(f"compare {wmt} GPT4-5shot ONLINE-A --gold mqm --lp en-de")
    yield case(f"compare {wmt} GPT4-5shot ONLINE-A --metric COMET-refA --lp en-de --by-document")
    yield case(f"gate --baseline {wmt} --gold mqm --lp en-de --systems GPT4-5shot,ONLINE-A --margin 1")
    for paper in ("m-mad", "rate", "himate", "fire"):
        yield case(f"reproduce {paper} --data data")
    yield case("campaign analyse data/esa/240520rc6ESA.scores.csv --resamples 20")
    yield case("rank data/esa/240520rc6ESA.scores.csv --resamples 100")
    yield case(f"score {ted} --lp zh-en")
    yield case(f"rank {ted} --lp zh-en --test rank-sum --resamples 100")
    rated = "data/wmt23/human-scores/zh-en.mqm.rater{}.seg.rating"
    yield case(f"spans {rated.format(1)} --gold {rated.format(2)} --test-set {wmt} --lp zh-en --rules all")
    yield case(f"agreement {rated.format(1)} {rated.format(2)} --test-set {wmt} --lp zh-en --resamples 20")
    gemba = "data/m-mad/GEMBA-MQM_en-de.seg.score"
    yield case(f"thresholds {gemba} --gold {wmt}/human-scores/en-de.mqm.seg.score --bad -5 --lp en-de")
    yield case(f"estimate {gemba} --gold {wmt}/human-scores/en-de.mqm.seg.score --lp en-de")
    yield case(f"power {wmt}/human-scores/en-de.mqm.seg.score GPT4-5shot ONLINE-A --lp en-de --resamples 100")
    yield case(f"curate select {wmt} --gold mqm --lp en-de --draws 50")


def all_cases() -> tuple[Case, ...]:
    return (*runs(), *results(), *exports(), *conversions(), *real())
