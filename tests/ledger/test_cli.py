"""The commands as people run them: exit codes, one-line errors, real folders, and, where it
matters, real processes, terminals, pipes, full disks."""

import errno
import io
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.running.claims_index import claims_index
from depthlaw.ledger.running.engines import cores
from depthlaw.ledger.running.options import PROCESSES_PER_CORE
from depthlaw.theory.claims import definition as kernel
from depthlaw.theory.claims.verdict import FAILING

# Claims of one suite that together take a moment: enough runs to be killed in the middle, few
# enough to repeat the suite.
SMALL = (
    *("--engine", "inline", "--only", "separation_rank/degree"),
    *("--only", "connectivity/reach", "--only", "hops/depth_corrected"),
)

# For the kills: several seconds of work in many runs, so that a random moment falls into a run more
# often than between two.
KILLED = "--only connectivity/reach --only hops/doubling --only hops/depth_corrected"


def manifest_of(said: str) -> str:
    return json.loads(said)["manifest"]


LOSSES = Path(__file__).parents[2] / "docs/examples/gemstones.csv"
LEVINE = "show separation_rank/upper_bound_deep --at"
REFUSED = {
    "verify quik": "accepted: quick",
    "verify --only separation_rank/degre": "did you mean separation_rank/degree",
    "verify --only nothing": "`depthlaw claims --all` lists the claims",
    f"{LEVINE} width=768": "needs depth; accepted are depth (L), heads, tokens, weights",
    f"{LEVINE} widht=768 depth=12": "has no 'widht'; did you mean width? accepted are depth (L)",
    f"{LEVINE} width=768 depth=1.5": "depth=1.5 is outside its domain; accepted is a positive int",
    f"{LEVINE} width=768 depth=0": "depth=0 is outside its domain",
    "show connectivity/reach --at depth=-1 diameter=3": "a positive integer up to 1e+15 or 0",
    "show evidence/width_512_threshold --at": "`depthlaw claims evidence/width_512_threshold` lis",
    "tasks list --atlas": "`depthlaw tasks list --help` lists what is accepted",
    f"{LEVINE} width": "--at 'width': give each name once with its value",
    f"{LEVINE} width=1 width=2": "give each name once",
    "show hops/doubling width=3": "values follow --at",
    "show hops --at width=3": "is a topic of",
    "verify --only ''": "the key is empty",
    "show hops/depth_printed_floating --at hops=1/0": "outside its domain",
    "show hops/depth_printed_floating --at hops=1e999999999": "outside its domain",
    "show hops/scored_positions --at N=9999999 k=2 alphabet=4": "more than 100,000 terms",
    "verify --results {tmp}/there.png/x": "--results DIR",
    "verify --results ''": "the name of a file or folder is empty",
    "verify --minutes nan": "--minutes nan is not a number of minutes above 0",
    "verify --minutes 0": "--minutes 0 is not a number of minutes above 0",
    "verify --minutes inf": "leave it out for no limit",
    "verify --timeout inf": "--timeout inf is not a number of seconds above 0",
    "verify --gpus x": "'x' is not a device id; accepted are numbers",
    "verify --gpus 0,,1": "'' is not a device id",
    "verify --gpus ''": "names no device",
    "verify --gpus 0 --engine inline": "--gpus belongs to --engine pool",
    "verify --processes 1000000": f"are 1 to {PROCESSES_PER_CORE * cores()} on this machine",
    "verify --processes -1": "--processes -1 is out of range",
    "verify --address foo": "belongs to --engine ray",
    "verify --engine slurm": "accepted: inline, pool, ray",
    "verify --max-memory 1B": "500MB or more",
    "verify frontier --memory lots": "amount of memory",
    "show nonsense": "depthlaw claims",
    "show upper_bound": "did you mean separation_rank/upper_bound_deep?",
    "why dubling": "did you mean hops/doubling?",
    "show hops/doubling --results {tmp}/absent": "absent does not exist",
    "mutate hops/doubling --results {tmp}/absent": "{tmp}/absent",
    "claims rankx": "no claim mentions 'rankx'; ",
    "cite levine2021": "did you mean levine2020",
    "appendix {tmp}/out --suite slow": "accepted: quick",
    "appendix {tmp}/out --results {tmp}/absent": "absent does not exist",
    "appendix ''": "the name of a file or folder is empty",
    "appendix /dev/null": "is a file; give the name of a folder",
    "appendix /proc/x": "choose another folder",
    "exercise depth-ablation --corpus /dev/zero": "is no text",
    "certify 30 9 {tmp}/f": "depth 9 is too large; accepted are 1 to 6",
    "certify 0 2 {tmp}/f": "width 0 is not positive",
    "certify 3 2 {tmp}/f --heads 2": "2 heads do not divide width 3",
    "certify 12 3 {tmp}/f": "try a smaller shape",
    "certify a 2 {tmp}/f": "it is not a whole number",
    "certify 3 -30 {tmp}/f": "the width is 1 or more and the depth 1 to 6",
    "certify 3 3 {tmp}/f --no": "no such option: --no",
    "tasks list maximun": "unknown task 'maximun'; did you mean maximum?",
    "tasks list knapsack": "unknown task 'knapsack'; `depthlaw tasks` lists them",
    "tasks list shuffle": "`depthlaw tasks language REGEX` decides regular languages",
    "tasks list brackets": "unknown task 'brackets'; did you mean dyck or dyck-prediction or",
    "tasks list S5": "unknown task 'S5'; did you mean s5-words?",
    "tasks maximun": "try `depthlaw tasks list maximum`",
    "tasks sorted": "try `depthlaw tasks list ordered`",
    "depth --task brackets": "try --task dyck",
    "depth --gpu H100 --time 'a fortnight'": "such as 336h, 14d, 2 weeks or a week",
    "records show zz --results reference": "no record has the id",
    "records show '' --results reference": "type more of it",
    "records export {tmp}/x.txt": "must end with .csv",
    "records export {tmp}/there.png": "--force",
    "records diff {tmp}/absent {tmp}": "does not exist",
    "records gc --results {tmp}/absent": "{tmp}/absent",
    "records list --results {tmp}/absent": "{tmp}/absent",
    "records gc --results {tmp}": "not a results folder",
    "records verify --results {tmp}/there.png": "does not verify",
    "records nothing": "depthlaw records --help",
    "exercise depth-ablatoin": "did you mean depth-ablation",
    "exercise poetry": "accepted: depth-ablation",
    "exercise all --corpus missing.txt": "cannot be read",
    "exercise all --corpus {tmp}/there.png": "is empty",
    "exercise all --plot nowhere/curve.png": "its folder does not exist",
    "exercise all --force": "--plot FILE",
    "exercise --plot curve.png": "no exercise is named",
    "fit {losses} --budget time": "accepted are parameters, flops, hours",
    "fit {losses} --tolerance 400%": "--tolerance",
    "fit {losses} --plot losses.txt": "txt",
    "fit {losses} --force": "--plot FILE",
    "fit {losses} --seed-column no": "no column called 'no'",
    "measure residual": "give --model NAME, or --weights FOLDER",
    "measure residual --model gpt5": "accepted are bert",
    "measure residual --model gpt2 --variant x": "accepted are full",
    "measure residual --model gpt2 --layers x": "depthlaw measure residual --help",
    "measure residual --model gpt2 --layers 0": "at least 1",
    "measure residual --model gpt2 --layers 99999999999": "accepted are 1 to 10000",
    "measure residual --model gpt2 --width 100000000 --heads 4": "GB of memory",
    "measure residual --model llama --tokens 10000000000": "GB of memory",
    "measure residual --model gpt2 --seeds 0": "accepted are 1 to 1000",
    "measure residual --model gpt2 --tokens 1": "one token is its own mean",
    "measure residual --model gpt2 --dtype half": "accepted are float32 and float64",
    "measure residual --weights {tmp}/absent": "is not a folder",
    "measure residual --weights {tmp}": "holds no config.json",
    "measure residual --model gpt2 --layers 2 --weights {tmp}": "says its own sizes",
    "measure residual --model gpt2 --force": "--plot FILE",
    "measure residual --model gpt2 --plot {tmp}/x.gif": "accepted are .png, .svg and .pdf",
    "measure residual --model gpt2 --plot {tmp}/there.png": "--force to replace it",
    "nothing": "--help",
}


@pytest.mark.parametrize("typed", REFUSED)
def test_bad_input_is_one_line_and_2_before_any_work(typed, tmp_path, monkeypatch, refused):
    def worked(*_, **__):
        raise AssertionError("work was begun")

    for begun in ("ledger.functions.appendix.write_appendix", "ledger.suite.Work.execute"):
        monkeypatch.setattr(f"depthlaw.{begun}", worked)
    (tmp_path / "there.png").write_text("")
    arguments = shlex.split(typed.format(tmp=tmp_path, losses=LOSSES))
    assert REFUSED[typed].format(tmp=tmp_path) in refused(*arguments)
    assert [path.read_text() for path in tmp_path.iterdir()] == [""]


class Full(io.StringIO):
    """Standard output on a full disk: it takes some text, and says so when that is flushed, or at
    once."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, text: str) -> int:
        self.room -= len(text)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(text)

    def fileno(self) -> int:
        return self.descriptor


@pytest.mark.parametrize("room", [0, 100])
@pytest.mark.parametrize(
    "arguments",
    [
        ("depth", "3B"),
        ("show", "hops/doubling"),
        ("cite", "hops/doubling", "--json"),
        ("records", "list", "--results", "reference"),
        ("verify", *SMALL),
        ("--version",),
    ],
)
def test_a_full_disk_under_the_output_is_one_line(
    arguments, room, recorded, tmp_path, monkeypatch, capsys
):
    if arguments[0] == "verify":
        arguments = (*arguments, "--results", str(recorded), "--quiet")
    full = Full(room)
    with open(tmp_path / "elsewhere", "w") as file:
        full.descriptor = file.fileno()
        monkeypatch.setattr(sys, "stdout", full)
        code = main(list(arguments))
    if code == 0:
        # It was little enough to fit.
        assert full.room >= 0
        return
    *notes, last = capsys.readouterr().err.splitlines()
    assert (code, last) == (
        2,
        "error: the output cannot be written (No space left on device); "
        "what was recorded before is kept",
    )
    assert "Traceback" not in "".join(notes)


def test_the_real_full_device_is_one_line_too():
    """What stays in the buffer until the end is noticed too."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "depthlaw", "depth", "3B"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "error: the output cannot be written (No space left on device); what "
        "was recorded before is kept\n"
    )


def test_show_evaluates_a_bound_at_values_of_ones_own(depthlaw):
    """Levine's bound as recalled, by hand: log_3 of the right side is 2 d L + L - 2 d log_3(d /
    (2 sqrt(2) e)) + log_3(d)."""
    d, log_3 = 768, lambda x: math.log(x) / math.log(3)
    by_hand = {
        n: 2 * d * n + n - 2 * d * log_3(d / (2 * math.sqrt(2) * math.e)) + log_3(d)
        for n in (6, 12, 24)
    }
    assert round(by_hand[12]) == 12_013
    code, out, err = depthlaw(f"{LEVINE} width=768 depth=6,12,24")
    lines = out.splitlines()
    assert code == 0
    assert [line.split(":")[0] for line in lines] == [f"depth={n} width=768" for n in by_hand]
    said = [float(line.split("<= ")[1].split(";")[0]) for line in lines]
    assert said == pytest.approx([*by_hand.values()], rel=1e-5)
    assert ["outside its condition" in line for line in lines] == [True, False, False]
    assert "FAILS" in err
    (row,) = json.loads(depthlaw(f"{LEVINE} width=768 --at depth=12 --json")[1])
    assert row["at"] == {"depth": 12, "width": 768}
    assert float(row["value"]) == pytest.approx(by_hand[12], rel=1e-5)
    assert (row["relation"], row["verdict"]) == ("<=", "FAILS")
    assert row["outcome"] == "FAILS (as recalled)"
    assert row["outside_condition"] is None
    assert depthlaw("show separation_rank/degree --at depth=40")[1] == f"depth=40: deg = {3**40}\n"
    for typed, says in (("0.3", "1.6"), ("3/10", "8/5"), ("1/3", "5/3")):
        at = f"--at branch_factor=1 depth=1 branch_variance={typed}"
        out = depthlaw(f"show signal_propagation/residual_stream {at}").out
        assert out.endswith(f"= {says}\n")
    # No layers: the domain of L begins at 1, and the claim's own cases at 0.
    none = depthlaw("show connectivity/reach --at depth=0 diameter=3").out
    assert none == "depth=0 diameter=3: r_+ = 1\n"


def test_claims_say_what_at_takes_and_verdicts_as_scripts_know_them(depthlaw):
    assert re.search(
        r"^separation_rank/degree .* depth \(L\)$", depthlaw("claims levine").out, re.M
    )
    assert "--at" not in depthlaw("claims").out
    rows = {row["key"]: row for row in depthlaw("claims --all --json").data}
    assert rows["separation_rank/upper_bound_deep"]["at"] == "depth (L), width (d_x)"
    assert {row["verdict"] for row in rows.values()} == {
        str(plain) if (plain := row["outcome"]) not in FAILING.values() else "FAILS"
        for row in rows.values()
    }
    refuted = {row["outcome"] for row in rows.values() if row["verdict"] == "FAILS"}
    assert refuted == {str(word) for word in FAILING.values()}


def test_claims_names_published_bounds_that_no_claim_checks(depthlaw):
    code, _, err = depthlaw("claims sanford")
    assert code == 0
    (line,) = (line for line in err.splitlines() if "no claim checks: connectivity:" in line)
    assert "lower order log D, if a conjecture holds (sanford2024)" in line
    assert line.endswith("`depthlaw tasks list connectivity`")
    assert "no claim checks" not in depthlaw("claims dong")[2]
    assert "no claim checks" not in depthlaw("claims")[2]


@pytest.mark.parametrize("command", ["fit_command.fit", "falsify_commands.falsify"])
@pytest.mark.parametrize(
    ("number", "said"),
    [
        (signal.SIGINT, "interrupted"),
        (signal.SIGTERM, "terminated"),
        (signal.SIGHUP, "the terminal is closed"),
    ],
)
def test_a_signal_ends_any_command_with_one_line(depthlaw, monkeypatch, command, number, said):
    def stopped(**given):
        assert signal.getsignal(number) != signal.SIG_DFL, "it would kill the process"
        signal.raise_signal(number)

    before = signal.getsignal(number)
    monkeypatch.setattr(f"depthlaw.ledger.cli.{command}", stopped)
    words = f"fit {LOSSES}" if "fit" in command else "falsify hops/doubling"
    assert depthlaw(words) == (130, "", f"error: {said}\n")
    assert signal.getsignal(number) == before


# One process for all commands: most of the time of each is that of starting.
ONE_AFTER_THE_OTHER = """
import fcntl, json, struct, sys, termios
from depthlaw.ledger.cli.arguments import main
fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
for arguments in json.loads(sys.argv[1]):
    assert main(arguments) == 0
    print("THE NEXT COMMAND", flush=True)
"""


def in_a_terminal(commands: Sequence[tuple[str | Path, ...]]) -> list[str]:
    """What a terminal of 40 columns shows of each command, without its colours."""
    import pty

    ours, theirs = pty.openpty()
    environment = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")
    } | {"TERM": "xterm"}
    asked = json.dumps([list(map(str, words)) for words in commands])
    process = subprocess.Popen(
        [sys.executable, "-c", ONE_AFTER_THE_OTHER, asked],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # EIO: the process has closed its side
        pass
    os.close(ours)
    assert process.wait() == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode()).replace("\r\n", "\n")
    *answers, rest = plain.split("THE NEXT COMMAND\n")
    assert (len(answers), rest) == (len(commands), "")
    return answers


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A results folder with the records of a few claims."""
    folder = tmp_path_factory.mktemp("recorded")
    assert main(["verify", *SMALL, "--results", str(folder)]) == 0
    return folder


def test_a_narrow_terminal_cuts_nothing(recorded, depthlaw):
    verdicts, listed, depth = in_a_terminal(
        [
            ("verify", *SMALL, "--results", recorded, "--quiet"),
            ("records", "list", "--results", recorded),
            ("depth", "1.3B"),
        ]
    )
    assert "…" not in verdicts + listed
    assert max(map(len, verdicts.splitlines())) == 64, "but for the manifest lines are shorter"
    table = verdicts.partition("\ncases: ")[0]
    for lines in (depth.splitlines(), table.splitlines(), listed.splitlines()[:-1]):
        assert max(map(len, lines)) <= 40
    for name in ("degree", "reach", "depth_corrected", "PROVED"):
        assert re.search(rf"\b{name}\b", table)
    for record in depthlaw("records list --results", recorded, "--json").data:
        whole = re.search(rf"^{record['id'][:10]}(?: .*\n)(?: .*\n)*", listed, re.M)[0]
        row = " ".join(whole.split())
        assert record["claim"] in row
        assert all(f"{name}={value}" in row for name, value in (record["case"] or {}).items())


def test_damaged_records_are_named_set_aside_and_measured_again(tmp_path, depthlaw):
    folder = tmp_path / "r"
    first = depthlaw("verify", *SMALL, "--results", folder, "--json")
    victims = sorted((folder / "runs").rglob("*.json"))[:2]
    victims[0].write_bytes(victims[0].read_bytes()[:40])
    victims[1].write_text(victims[1].read_text().replace('"seed":0', '"seed":1'))
    (folder / "runs" / "todo.txt").write_text("foreign \x1b[31m")
    done = depthlaw("verify", *SMALL, "--results", folder, "--json")
    assert done.code == 0
    assert manifest_of(done.out) == manifest_of(first.out)
    for name in (victims[0].name, victims[1].name, "todo.txt"):
        assert name in done.err
    assert len(list((folder / "set-aside").iterdir())) == 3


MISTAKEN = "from depthlaw.theory.claims.definition import claim\n\n\nx = 1\n"


@pytest.mark.parametrize(
    ("mistake", "line", "said"),
    [
        ("y = undefined\n", 5, "NameError: name 'undefined' is not defined"),
        # Where it is found, not in what was called.
        (
            "from depthlaw.theory.claims.symbols import quantity\nquantity('width', 'w', "
            "'another')\n",
            6,
            "ValueError: the name 'width' stands for another quantity already",
        ),
    ],
)
def test_a_mistake_in_a_module_is_named_with_file_and_line(
    tmp_path, monkeypatch, capsys, mistake, line, said
):
    package = tmp_path / "mistaken" / "theory" / "topic"
    package.mkdir(parents=True)
    (package / "theorem.py").write_text(MISTAKEN + mistake)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "mistaken.theory.topic.theorem"
    monkeypatch.setattr(kernel, "_modules", lambda: [(name, MISTAKEN + mistake)])
    # A change of the code makes the index anew.
    monkeypatch.setattr("depthlaw.ledger.running.claims_index.read_cache", lambda name: None)
    claims_index.cache_clear()
    for command in (["show", "topic/theorem"], ["verify", "--results", str(tmp_path / "r")]):
        assert main(command) == 2
        message = capsys.readouterr().err
        assert message.startswith(f"error: {package / 'theorem.py'}, line {line}: {said}")
        assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("appendix {tmp}/out", "ledger.verdicts.record_source.Recorded.judged"),
        ("records list", "ledger.cli.records_commands.list_records"),
        ("depth 3B", "ledger.cli.depth_command.depth"),
    ],
)
def test_ctrl_c_is_one_line_and_writes_nothing(typed, place, tmp_path, monkeypatch, depthlaw):
    monkeypatch.setattr(f"depthlaw.{place}", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    assert depthlaw(typed.format(tmp=tmp_path)) == (130, "", "error: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGINT, "interrupted: "), (signal.SIGHUP, "the terminal is closed: ")],
)
def test_ctrl_c_is_one_line_and_resumable(tmp_path, number, said):
    words = f"-m depthlaw verify quick --results {tmp_path} --engine pool {KILLED}".split()
    command = [sys.executable, *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while process.poll() is None and not list((tmp_path / "runs").rglob("*.json")):
        time.sleep(0.002)
    # To all its processes, as a terminal does.
    os.killpg(process.pid, number)
    out, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in out + err
    assert "Exception ignored" not in err
    assert said in err


@pytest.mark.parametrize("arguments", ["depth 3B --json", "claims --json", "--help", "tasks list"])
def test_a_reader_that_went_away_is_no_error(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "depthlaw", *arguments.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_output_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["depth", "3B"]) == 2
    assert re.fullmatch("error: the output is closed[^\n]*\n", capsys.readouterr().err)


def test_claims_are_those_that_are_cited_and_all_of_them_on_demand(depthlaw):
    """A reader, and a script, learns how many others there are; where no cited claim mentions a
    word, the others are the answer."""
    every = depthlaw("claims --all --json").data
    done = depthlaw("claims --json")
    cited = done.data
    assert cited == [row for row in every if row["tier"] == "cited"]
    assert all(row["cited"] and not row["supports"] for row in cited)
    assert done.err == (
        f"{len(cited)} cited claims; {len(every) - len(cited)} more support these or others: "
        "`depthlaw claims --all`\n"
    )
    alone = depthlaw("claims find^b")
    assert alone.out.split()[5:8] == ["hops/doubling", "PROVED", "derived"]
    assert alone.err == "no cited claim mentions 'find^b'; this one supports one\n"
    # Cited claims with what supports them; what supports others says whom.
    lines = depthlaw("claims --all").out.splitlines()[1:-1]
    assert len(lines) == len(every)
    keys = [line.split()[0] for line in lines]
    above = [line for line in lines[: keys.index("hops/doubling")] if " (supports " not in line]
    assert above[-1].startswith("hops/depth_corrected ")
    # What hangs on a claim is searched, too.
    assert "rank_collapse/position_bias" in depthlaw("claims", "sinks", "attention").out


def test_show_says_what_a_claim_is_for(depthlaw):
    supporting = depthlaw("show hops/doubling --all").out
    title = depthlaw("claims hops/depth_corrected --json").data[0]["title"]
    assert f"\nsupports    hops/depth_corrected: {title}\n" in supporting
    cited = depthlaw("show hops/depth_corrected --all").out
    assert re.search(r"^at stake +Decides whether ", cited, re.M)
    assert " hops/doubling PROVED: find^a after find^b is find^(a+b)\n" in cited
    data = depthlaw("show hops/depth_corrected --json").data
    assert "hops/doubling" in data["supported_by"]


def test_the_list_of_claims_marks_what_was_changed_after_data(depthlaw):
    """As `show` does: one verdict, one mark."""
    rows = {row["key"]: row for row in depthlaw("claims --all --json").data}
    text = depthlaw("claims --all").out
    about = depthlaw("show depth_width/depth_gains_by_updates").out
    assert re.search(r"^verdict +[A-Z]+\*: ", about, re.M)
    marked = {key for key, row in rows.items() if row["post_hoc"] and row["verdict"].isupper()}
    assert set(re.findall(r"^(\S+) +[A-Za-z ()]+\*", text, re.M)) == marked != set()
    assert "show KEY` says what" in text
