"""`recollect completion`: commands, options and names by the tabulator key."""

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the script that lets a shell complete commands, options, and names of tasks, mixers and studies.

    For example:

    source <(recollect completion bash)

    recollect completion fish > ~/.config/fish/completions/recollect.fish

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    from recollect.cli import build

    print(build("").generate_completion(prog_name="recollect", shell=shell), end="")
