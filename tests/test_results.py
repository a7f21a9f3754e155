"""docs/results.md is what `make results` writes from the kept stores."""

import math
from pathlib import Path

from recollect.window import Reading, Window, measure
from results.anchors import is_wider, learning, order
from results.page import ALSO, PAGE, document, kept


def test_the_page_of_results_is_up_to_date_and_shows_every_kept_study(tmp_path: Path) -> None:
    parts = kept()
    text = document(parts, tmp_path / "results")
    assert text == PAGE.read_text(encoding="utf-8"), "make results"
    pictures = sum(1 + len(ALSO.get(part.study, ())) for part in parts)
    assert len(list((tmp_path / "results").glob("*.png"))) == pictures > 0
    for file in (tmp_path / "results").iterdir():
        assert f"(results/{file.name})" in text
        assert (PAGE.parent / "results" / file.name).exists()


def window(*solved: float) -> Window:
    """What a sharp cell that is solved at these rates, of nine from 1e-4 to 1, is found to be, three seeds each."""
    rates = [10.0 ** (-4 + i / 2) for i in range(9)]
    runs = [
        Reading(lr, seed, 1.0 if any(math.isclose(lr, at) for at in solved) else 0.2)
        for lr in rates
        for seed in (1, 2, 3)
    ]
    return measure(runs, steps=100)


def test_scales_agree_on_who_learns_and_whose_window_is_wider_or_differ() -> None:
    none, narrow, wide = window(), window(1e-2), window(1e-3, 10**-2.5, 1e-2, 10**-1.5)
    scales = ("desk", "laptop")
    assert learning(scales, {"desk": narrow, "laptop": wide, "other": none}) == "agree"
    assert learning(scales, {"desk": none, "laptop": none}) == "agree: none"
    assert learning(scales, {"desk": none, "laptop": wide}) == "differ: at laptop only"
    assert learning(scales, {"desk": None, "laptop": wide}) == learning(scales, {"laptop": wide}) == "not told"
    assert (is_wider(wide, narrow), is_wider(none, wide), is_wider(wide, wide), is_wider(wide, None)) == (
        *(True, False, None, None),
    )
    middle = window(1e-3, 10**-2.5, 1e-2)
    a, b, c = {"desk": wide, "laptop": wide}, {"desk": middle, "laptop": none}, {"desk": none, "laptop": middle}
    assert order(scales, {"a": a, "b": b}) == (
        "Of 1 pairs of windows of whose order desk and laptop are both sure, 1 have the same order."
    )
    assert order(scales, {"a": a, "b": b, "c": c}).endswith(
        "are both sure, 2 have the same order; turned round: b and c."
    )
    assert order(scales, {"a": a, "d": {"desk": wide}}).startswith("Of 0 pairs")
