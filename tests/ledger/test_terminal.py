"""Nothing printed is ever cut: whole rows when piped, wrapped in a terminal of 80 columns, blocks
in one of 40."""

import io
import re
import sys
from dataclasses import replace

import pytest
from rich.console import Console
from rich.table import Table

from depthlaw.advisor import atlas
from depthlaw.advisor.atlas.formulas import counted, parse
from depthlaw.ledger.cli import terminal
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.cli.plain import notes
from depthlaw.ledger.cli.tables import claims_table, print_table, text_table
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.claims_index import claims_index
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts import display, suite_verdicts
from depthlaw.ledger.verdicts.card import card
from depthlaw.theory.claims.definition import registry

LONG = "rank_collapse/convergence_as_reported"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    claims = registry()
    chosen = {key: claims[key] for key in (LONG, "hops/depth_corrected", "separation_rank/degree")}
    store = Store(tmp_path_factory.mktemp("r"))
    for run in plan(chosen, "quick"):
        if run.case is not None:
            store.put(run.execute())
    return suite_verdicts.results(chosen, "quick", store)


def printed(width: int, *, is_terminal: bool, what) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=is_terminal, highlight=False)
    what(console)
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())


def verdicts(results, width: int, *, is_terminal: bool) -> str:
    table = terminal.verdict_table(results)
    return printed(width, is_terminal=is_terminal, what=lambda c: print_table(c, table))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_piped_tables_have_a_whole_row_for_each_claim(results):
    text = verdicts(results, 40, is_terminal=False)
    assert "…" not in text
    for result in results:
        (row,) = re.findall(rf"^ {result.claim.name} .*$", text, re.M)
        assert result.verdict.value in row
        assert row.endswith(f"{result.claim.source.key} {result.claim.wording}")


@pytest.mark.parametrize("width", [20, 40, 72, 100])
def test_a_terminal_gets_every_word_within_its_width(results, width):
    text = verdicts(results, width, is_terminal=True)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for result in results:
        for part in (
            result.verdict.value,
            f"2of{len(result.in_scope)}fail"
            if result.verdict == "FAILS"
            else f"{len(result.decided)}/{len(result.in_scope)}",
            result.claim.source.key,
            result.claim.wording,
        ):
            assert part in squeezed(text)
        # A long name goes on below, where the other columns of its second line are empty.
        assert result.claim.name[: min(27, width - 2)] in text
    if width >= 40:
        # Words that fit are not broken.
        assert all(re.search(rf"\b{result.verdict.value}\b", text) for result in results)


@pytest.mark.parametrize("width", [40, 80])
def test_show_and_claims_keep_within_the_terminal(results, width):
    rows = [claims_index()[result.claim.key] for result in results]
    table = claims_table(rows, {result.claim.key: str(result.verdict) for result in results})
    of = card(results[1])
    shown = printed(width, is_terminal=True, what=lambda c: terminal.show(c, of, whole=True))
    listed = printed(width, is_terminal=True, what=lambda c: print_table(c, table))
    assert max(map(len, (shown + listed).splitlines())) <= width
    assert "…" not in shown + listed
    for row in results[1].cases:
        assert all(field in squeezed(shown) for field in str(row.case).split())


def test_rows_of_one_thing_stand_below_it_and_no_cell_is_broken_that_fits():
    rows = [("dyck", "left", "D + 1 or so"), ("dyck", "right", "D + 1"), ("hops", "left", "k")]
    headings = ("task", "class", "needed")
    table = text_table(*headings, rows=rows, left=headings)
    assert printed(25, is_terminal=True, what=lambda c: print_table(c, table)).splitlines() == [
        "dyck",
        "   class left",
        "     needed D + 1 or so",
        "   class right",
        "     needed D + 1",
        "hops",
        "   class left  needed k",
    ]


@pytest.mark.parametrize("width", [40, 80])
def test_the_atlas_says_what_every_task_is(width, on_terminal):
    said = " ".join(on_terminal(width, "tasks").out.split())
    for task in atlas.tasks().values():
        assert f"{task.key}: {task.definition}" in said
        assert said.count(f" {task.subject} ") + said.startswith(f"{task.subject} ") == 1
    for row in atlas.atlas_rows():
        assert f" {row.class_.key}: " in said
        for end in (row.needed, row.suffices):
            assert end in ("-", "none") or (
                atlas.formula(end).removeprefix("none") in said
                or counted(parse(end), row.class_.unit) in said
            )


def test_piped_each_row_of_the_atlas_is_a_line_that_names_its_task(capsys):
    assert main(["tasks"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "parity, counting: no fixed depth suffices; ARGUED" in lines
    assert "cpwl, relu: 2 to ceil(log_6((d + 1)/2)) + 1 hidden layers; " in "\n".join(lines)
    for row in atlas.atlas_rows():
        assert sum(line.startswith(f"{row.task.key}, {row.class_.key}: ") for line in lines) == 1


@pytest.mark.parametrize("key", [LONG, "hops/depth_corrected"])
def test_show_leads_with_verdict_sentence_number_and_source(results, key):
    result = next(r for r in results if r.claim.key == key)
    of = card(result)
    lines = printed(80, is_terminal=False, what=lambda c: terminal.show(c, of))
    whole = printed(80, is_terminal=False, what=lambda c: terminal.show(c, of, whole=True))
    assert whole.startswith(lines)
    assert "LaTeX" in whole.replace(lines, "")
    assert [line[:12].strip() for line in lines.splitlines()[1:]] == [
        *("verdict", "sentence"),
        "fails at" if result.verdict == "FAILS" else "number",
        "source",
    ]
    if result.verdict == "FAILS":
        # No failing case is smaller than the one that is shown.
        worst = result.counterexample
        assert display.measured_side(result.claim, worst) in lines
        sizes = [suite_verdicts.size(row.case) for row in result.failing]
        assert suite_verdicts.size(worst.case) == min(sizes)


def test_show_says_once_what_all_cases_share(results):
    degree = next(r for r in results if r.claim.key == "separation_rank/degree")
    of_one_depth = [row for row in degree.cases if row.case.depth == degree.cases[0].case.depth]
    assert len(of_one_depth) > 1
    shown = card(replace(degree, cases=tuple(of_one_depth)))
    text = printed(200, is_terminal=False, what=lambda c: terminal.show(c, shown, whole=True))
    assert text.splitlines()[1].startswith("verdict     PROVED: ")
    shared = f"depth={of_one_depth[0].case.depth}"
    assert text.count(shared) == 1
    table = text.partition(f"in every case: {shared}\n")[2]
    assert all(f"width={row.case.width}" in table for row in of_one_depth)


def test_what_is_being_done_is_said_in_a_terminal_alone():
    def done(console):
        with terminal.waiting(console, "reading", quiet=False) as doing:
            doing("drawing 3 figures")

    text = printed(40, is_terminal=True, what=done)
    assert "drawing 3 figures" in text
    assert printed(40, is_terminal=False, what=done) == ""


def test_claims_without_cases_in_the_suite_are_counted_and_not_listed(results):
    none = replace(results[0], cases=(), proof=None, control=None)
    text = verdicts([none, *results[1:]], 100, is_terminal=False)
    assert text.splitlines()[-1].split() == ["1", "claim", "without", "cases", "here"]
    assert f" {none.claim.name} " not in text


def test_a_legend_explains_what_stands_in_the_table_and_no_more() -> None:
    table = Table("claim", "verdict", "cases", "slack", "source")
    table.add_row("PROVED", "HOLDS*", "3/3", "x2~", "ye2025 printed")
    said = [line.partition(":")[0] for line in terminal.legend(table).split("\n")]
    assert said == ["cases", "slack", "HOLDS", "~", "*", "printed"]


@pytest.mark.parametrize("width", [40, 80])
def test_notes_are_as_wide_as_a_terminal_and_piped_one_line(width, depthlaw, on_terminal):
    piped = depthlaw("claims levine").err
    said = (
        r"\d+ cited claims and \d+ that support them; \d+ more support these or others: `depthlaw "
    )
    assert re.match(said, piped)
    assert piped.count("\n") == 1
    assert " ".join(on_terminal(width, "claims", "levine").err.split()) == piped.strip()


def test_doctor_has_room_for_words_in_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    main(["doctor"])
    rest = [x for x in capsys.readouterr().out.splitlines() if x.startswith("    ")]
    assert len(rest) > 10
    # What goes on stands below the name, where there is room for words.
    assert not any(line.startswith(" " * 5) for line in rest)


def test_nothing_moves_where_no_terminal_is_or_in_a_notebook(monkeypatch, capsys):
    """A notebook sets FORCE_COLOR, and may give its commands a terminal of its own."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-color")

    def said(console: Console) -> str:
        with terminal.waiting(console, "judging", quiet=False):
            pass
        return capsys.readouterr().err

    assert "\x1b[?25l" in said(Console(stderr=True)), "what rich takes for a terminal"
    assert said(notes()) == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "\x1b[?25l" in said(notes())
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    assert said(notes()) == ""
