"""Command lines and files that nobody can mean, made from a grammar: a sound command in which one thing is wrong."""

import random
from collections.abc import Callable
from pathlib import Path

NUMBERS = ["0", "-1", "1.5", "x", "", "nan", "1e400", "99999999999999999999", "true", "[1]", "{}", "null", "1,5", "0x"]
RATES = ["0", "-1", "x", "", "nan", "inf", "true", "1e-3x"]
NAMES = [
    "",
    "mqra",
    "no such thing",
    "../x",
    "a/b",
    "x" * 400,
    "\x1b[31m",
    "*",
    "none.py:",
    "none.py:M",
    "torch.nn:Nothing",
]
FIELDS = {
    "task.length": ["3", "-4", "1.5", "x", "[8]", "null", "99999999999"],
    "task.n_pairs": ["0", "true", "99", "x", "2.5"],
    "task.vocab_size": ["0", "3", "x", "99999999999"],
    "task.power_a": ["0", "1000", "nan", "x"],
    "task.vocabulary": ["both", "1", "null"],
    "task.rows": ["0", "-5", "stale", "9999999999999", "2.5"],
    "task.no_such": ["1"],
    "model.d_model": NUMBERS,
    "model.n_layers": NUMBERS,
    "model.block": ["none", "[mixer]", "7"],
    "model.dropout": ["1", "-0.1", "x", "true"],
    "model.mixer.n_heads": ["3", "0", "x", "1.5"],
    "model.mixer.no_such": ["1"],
    "train.lr": RATES,
    "train.steps": NUMBERS,
    "train.batch_size": NUMBERS,
    "train.schedule": ["square", "1"],
    "train.beta1": ["1", "-1", "x"],
    "train.warmup": ["1", "-1", "x"],
    "train.epochs": ["0", "1.5", "x", "2"],
    "compute.device": ["tpu", "cuda:x", "1"],
    "compute.kernel": ["cuda", "1", "null"],
    "compute.threads": ["0", "100000", "x", "true"],
    "compute.precision": ["fp8", "16"],
    "seed": ["-1", "1.5", "x", "99999999999999999999"],
    "numerics": ["99999", "0", "x"],
    "no.such.field": ["1"],
}
SOUND = "task: mqar\nmixer: attention\n"
YAMLS = ["", "[]", "7", "a: [", "\x00", "!!python/object:os.system {}", "&a [*a]", "mixer: attention", "task: mqar"]
YAMLS += ["task: mqar\ntask: ar\nmixer: attention", "task: mqra\nmixer: attention", "task: mqar\nmixer: atention"]
YAMLS += ["task: mqar\nmixer: {d_state: 4}", "task: mqar\nmixer: none.py:M", "task: mqar\nmixer: []"]
YAMLS += ["task: []\nmixer: attention", f"{SOUND}lr: 0", f"{SOUND}lr: {{log: [1, 0], n: 3}}", f"{SOUND}no_such: 1"]
YAMLS += [f"{SOUND}lr: {{log: [1e-3, 1e-2], n: 0}}", f"{SOUND}model: {{d_model: x}}", f"{SOUND}protocol: none"]
YAMLS += [f"{SOUND}seed: -1", f"{SOUND}train: {{steps: 1.5}}"]
SPECS = ["", "[]", "a: [", "task.length: 3", "no.such: 1", "train.lr: 1\ntrain.lr: 2", "train: 7"]
PYTHONS = ["", "1 / 0", "exit()", "def specs(): return 1", "def specs(): return [1]", "def specs(: pass"]
PYTHONS += ["def specs(): raise ValueError('no')"]
Line = list[str]


def lines(folder: Path, count: int, seed: int = 0) -> list[Line]:
    """So many command lines, with the files that they name; the same for the same seed."""
    dice = random.Random(seed)
    makers: list[Callable[[random.Random, Path, int], Line]] = [_set, _option, _set, _file, _other, _option]
    return [makers[i % len(makers)](dice, folder, i) for i in range(count)]


def _set(dice: random.Random, folder: Path, i: int) -> Line:
    field = dice.choice(list(FIELDS))
    value = dice.choice(FIELDS[field])
    head = dice.choice([["train", "mqar", "attention"], ["window", "mqar", "attention"], ["size", "mqar", "attention"]])
    if head[0] == "window" and field in ("train.lr", "seed"):
        head = ["train", "mqar", "attention"]
    both = ["--set", "train.steps=5"] if (field, value) == ("train.epochs", "2") else []
    return [*head, "--set", f"{field}={value}", *both]


def _option(dice: random.Random, folder: Path, i: int) -> Line:
    number, rate, name = dice.choice(NUMBERS), dice.choice(RATES), dice.choice(NAMES)
    return dice.choice(
        [
            ["train", name, "attention"],
            ["train", "mqar", name],
            ["train", "mqar", "attention", f"--lr={rate}"],
            ["train", "mqar", "attention", f"--d-model={number}"],
            ["train", "mqar", "attention", f"--n-layers={number}"],
            ["train", "mqar", "attention", f"--steps={number}"],
            ["train", "mqar", "attention", "--protocol", name],
            ["train", "mqar", "attention", "--no-such-flag"],
            ["train", "mqar", "attention", "--set", "nothing"],
            ["train", "mqar"],
            ["window", "mqar", "attention", f"--low={rate}"],
            ["window", "mqar", "attention", "--low=1e-2", "--high=1e-2"],
            ["window", "mqar", "attention", f"--max-runs={dice.choice(['0', '-1', 'x', '1.5'])}"],
            ["window", "mqar", "attention", f"--tolerance={dice.choice(['0', '-1', 'x', 'nan'])}"],
            ["window", "mqar", "attention", f"--threshold={dice.choice(['0', '-1', 'x', '2'])}"],
            ["window", "mqar"],
            ["run", "demo", f"--lrs={rate}"],
            ["run", "demo", f"--seeds={dice.choice(['-1', '1.5', 'x'])}"],
            ["run", "demo", f"--widths={dice.choice(['0', '-1', '1.5', 'x'])}"],
            ["run", "demo", "--scale", "huge"],
            ["run", "demo", "--mixers", name or "x"],
            ["run", "demo", "--workers", dice.choice(["0", "-1", "x", "1.5"])],
            ["run", "demo", "--executor", "cloud"],
            ["run", "demo", "--limit", dice.choice(["-1", "x", "1.5"])],
            ["run", "demo", "--only", "no such run"],
            ["run", name or "x"],
        ]
    )


def _file(dice: random.Random, folder: Path, i: int) -> Line:
    if dice.random() < 0.3:
        file = folder / f"sweep{i}.py"
        file.write_text(dice.choice(PYTHONS))
    else:
        file = folder / f"sweep{i}.yaml"
        file.write_text(dice.choice(YAMLS))
    if file.suffix == ".yaml" and dice.random() < 0.3:
        file.write_text(
            dice.choice(["", "[]", "a: [", "task.length: 3", "no.such: 1", "train.lr: 1\ntrain.lr: 2", "train: 7"])
        )
        return ["train", "mqar", "attention", "--spec", str(file)]
    return ["run", str(file)]


def _other(dice: random.Random, folder: Path, i: int) -> Line:
    name = dice.choice(NAMES) or "x"
    text = folder / "notes.txt"
    text.write_text("no store")
    store = dice.choice([str(folder), str(text), str(folder / "none.db")])
    return dice.choice(
        [
            [name],
            ["list", name],
            ["list", "runs", "--store", store],
            ["show", name, "--store", store],
            ["diff", name, name, "--store", store],
            ["status", "--store", store],
            ["report", "--store", store],
            ["report", "--format", "docx"],
            ["export", "--json", "--store", store],
            ["export"],
            ["store", "merge", store],
            ["store", "delete"],
            ["store", "check", "--store", store],
            ["claims", dice.choice(["0", "99", "x", "1.5"])],
            ["protocols", name],
            ["protocols", "diff", "paper", name],
            ["size", "mqar", "attention", "--params", dice.choice(["x", "0", "-1", "1M5", "1e99"])],
            ["size", "mqar", "attention", "--multiple", dice.choice(["0", "-1", "x"]), "--params", "1M"],
            ["check", name],
            ["train", "mqar", "attention", "--store", dice.choice([str(folder), str(text)])],
        ]
    )
