"""The exceptions that a protocol makes for some mixers, offered to users': `--like attention`, `like: attention`."""

from collections.abc import Sequence

from recollect.errors import BadInput
from recollect.spec.mixers import MIXERS
from recollect.spec.names import is_whole
from recollect.spec.protocols import PROTOCOLS, Fields
from recollect.spec.sources import is_code


def is_own(name: str) -> bool:
    """Whether a name is for a mixer of a user's; a whole model takes nothing from a protocol's model."""
    return is_code(name) and not is_whole(name)


def roles(mixers: Sequence[str], like: str, where: str, word: str = "--like") -> list[str]:
    """Under which names mixers look for exceptions: their own, those of a user under the one that they are like.

    `word` is how the user says it.
    """
    if not like:
        return list(mixers)
    MIXERS.find(like, f"{where}: {word.rstrip(':')}")
    if not any(map(is_own, mixers)):
        raise BadInput(f"{where}: {word} {like} is for a mixer of yours, file.py:Class (got {', '.join(mixers)})")
    return [like if is_code(name) else name for name in mixers]


def exceptions(protocol: str, task: str, mixer: str) -> Fields:
    """What a protocol has otherwise for a built-in mixer, but for options of its own."""
    found: dict[str, object] = {}
    for when in PROTOCOLS.find(protocol).exceptions:
        if when.key == "model.mixer" and mixer in when.values and (not when.tasks or task in when.tasks):
            found |= {key: value for key, value in when.then.items() if not key.startswith("model.mixer.")}
    return found


def told(protocol: str, task: str, mixers: Sequence[str], like: str, word: str = "--like") -> str:
    """What was chosen for mixers of users, in a sentence; empty where there is none, or nothing to choose."""
    own = list(filter(is_own, dict.fromkeys(mixers)))
    offered: dict[str, list[str]] = {}
    for name in MIXERS:
        if fields := exceptions(protocol, task, name):
            offered.setdefault(_words(fields), []).append(name)
    if not own or not offered:
        return ""
    if like:
        given = _words(exceptions(protocol, task, like)) or f"for which the protocol {protocol} makes no exception"
        return f"{', '.join(own)}: trained like {like}: {given}"
    others = "; ".join(f"{' and '.join(names)}: {words}" for words, names in offered.items())
    first = next(iter(offered.values()))[0]
    return (
        f"{', '.join(own)}: trained without the exceptions that the protocol {protocol} makes ({others}); "
        f"{word} {first} would give yours the same"
    )


def _words(fields: Fields) -> str:
    return ", ".join(f"{key.removeprefix('model.')} {value}" for key, value in fields.items())
