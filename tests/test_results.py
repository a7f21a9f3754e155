"""docs/results.md is what `make results` writes from the kept stores."""

from pathlib import Path

from results.page import PAGE, document, kept


def test_the_page_of_results_is_up_to_date_and_shows_every_kept_study(tmp_path: Path) -> None:
    parts = kept()
    text = document(parts, tmp_path / "results")
    assert text == PAGE.read_text(encoding="utf-8"), "make results"
    assert len(list((tmp_path / "results").glob("*.png"))) == len(parts) > 0
    for file in (tmp_path / "results").iterdir():
        assert f"(results/{file.name})" in text
        assert (PAGE.parent / "results" / file.name).exists()
