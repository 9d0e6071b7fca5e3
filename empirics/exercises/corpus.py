"""A text that every machine has, to train language models on: the sources of Python's standard
library, docstrings included; or any file of the user's. Both are known by their hash.

Another version of Python has another library, and so another hash: it stands in the cases of the
claims that train on it.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.claims.inputs import Input
from depthlaw.theory.claims.values import Case

# Bytes of a corpus: enough for a million tokens, and read in a blink; less is learned by heart.
LARGEST, SMALLEST = 4_000_000, 200_000
# What holds no code of the library's own, or is not the same on two machines with one Python.
_LEFT_OUT = {
    "__pycache__",
    "dist-packages",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "site-packages",
    "test",
    "tests",
    "turtledemo",
}
_GENERATED = ("_sysconfigdata", "config-", "sitecustomize", "usercustomize")
# One file (or, of a single file, one part) in so many is for validation.
_PARTS = 10
_NONE = "none"


@dataclass(frozen=True)
class Corpus:
    """Texts to train on and texts to validate on, without a file in both. Passages that several
    files share, such as licences and tables, may be in both.

    Attributes:
        digest: 16 hexadecimal digits of SHA-256 over all texts, in order.
        training, validation: one text per file.
    """

    digest: str
    training: tuple[str, ...]
    validation: tuple[str, ...]


@dataclass(frozen=True)
class CorpusTokens:
    """A corpus as token ids, each split one array of type uint16, its files one after the
    other."""

    training: np.ndarray
    validation: np.ndarray


@lru_cache(maxsize=1)
def standard_library() -> Corpus | None:
    """The sources of this Python's standard library; None where it has none as files.

    Tests, packages installed beside it, generated files, and what is not UTF-8 are left out, and
    equal files are taken once. The order is that of the SHA-256 of the relative path, so that a
    new file in another version moves no other; files are taken up to `LARGEST` bytes, and every
    tenth is for validation.

    Cost: 0.1 s when first called.
    """
    root = Path(sysconfig.get_path("stdlib"))
    known, texts, size = set[bytes](), list[str](), 0
    for name in sorted(_sources(root), key=lambda name: hashlib.sha256(name.encode()).digest()):
        try:
            data = (root / name).read_bytes()
            text = data.decode()
        except (OSError, UnicodeDecodeError):
            continue
        content = hashlib.sha256(data).digest()
        if content in known or not text.strip():
            continue
        if size + len(data) > LARGEST:
            break
        known.add(content)
        texts.append(text)
        size += len(data)
    if size < SMALLEST:
        return None
    validation = tuple(texts[_PARTS - 1 :: _PARTS])
    training = tuple(text for place, text in enumerate(texts) if place % _PARTS != _PARTS - 1)
    return Corpus(_digest((*training, *validation)), training, validation)


def _sources(root: Path) -> Iterator[str]:
    for here, folders, files in os.walk(root):
        folders[:] = [
            name for name in folders if name not in _LEFT_OUT and not name.startswith(_GENERATED)
        ]
        for name in files:
            if name.endswith(".py") and not name.startswith(_GENERATED):
                yield (Path(here) / name).relative_to(root).as_posix()


def _digest(texts: tuple[str, ...]) -> str:
    whole = hashlib.sha256()
    for text in texts:
        whole.update(hashlib.sha256(text.encode()).digest())
    return whole.hexdigest()[:16]


# The digest of this Python's library, for cases.
STANDARD = found.digest if (found := standard_library()) else _NONE


def own(file: Path) -> Corpus:
    """The corpus that a file of the user's is: its first nine tenths to train on, its last tenth to
    validate on, split at a line. Of a file beyond `LARGEST` bytes the beginning.

    Raises:
        UsageError: for a file that is missing, empty, too small, or no text in UTF-8.
    """
    what = f"--corpus {file}"
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{what} cannot be read ({error.strerror}); give a text file") from None
    if not data.strip():
        raise UsageError(f"{what} is empty; give a text file of {SMALLEST // 1000} kB or more")
    try:
        if b"\0" in data:
            raise ValueError
        # The bytes of a character that the cap cuts off are left out, and only those.
        text = codecs.getincrementaldecoder("utf-8")().decode(
            data[:LARGEST], final=len(data) <= LARGEST
        )
    except ValueError:
        raise UsageError(f"{what} is no text in UTF-8; give a text file") from None
    if len(data) < SMALLEST:
        raise UsageError(
            f"{what} has {len(data):,} bytes, which nets of this size learn by heart; "
            f"give {SMALLEST:,} or more"
        )
    cut = len(text) * (_PARTS - 1) // _PARTS
    cut = text.find("\n", cut) + 1 or cut
    return Corpus(_digest((text[:cut], text[cut:])), (text[:cut],), (text[cut:],))


def keep(corpus: Corpus, folder: str) -> None:
    """Store a corpus of the user's where `encoded` finds it by its hash, whichever process asks.

    Raises:
        UsageError: when the folder cannot be written.
    """
    _write(_stored(corpus.digest, folder), "".join((*corpus.training, *corpus.validation)).encode())


def _stored(digest: str, folder: str) -> Path:
    return Path(folder) / "corpora" / f"{digest}.txt"


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UsageError(
            f"a corpus cannot be stored in {path.parent} ({error.strerror}); free "
            "space, or choose another folder with --results DIR"
        ) from None


def _read(digest: str, folder: str) -> Corpus:
    library = standard_library()
    if library is not None and library.digest == digest:
        return library
    if digest == _NONE:
        raise UsageError(
            "this Python comes without the sources of its standard library; give a "
            "text by --corpus FILE"
        )
    path = _stored(digest, folder)
    text = own(path) if folder and path.is_file() else None
    if text is None or text.digest != digest:
        raise UsageError(
            f"the corpus {digest} is not the standard library of this Python, nor "
            "stored here; give its text by --corpus FILE"
        )
    return text


@lru_cache(maxsize=4)
def encoded(digest: str, vocabulary: int, folder: str = "") -> CorpusTokens:
    """The tokens of a corpus, by a byte-level BPE trained on its training split alone.

    Deterministic for a version of `tokenizers`; stored in `folder`, and made again where what is
    stored there is damaged.

    Args:
        digest: of the standard library, or of a corpus that was stored by `keep`.
        vocabulary: number of token ids, 257 to 65536; the 256 bytes are among them.
        folder: results cache; "": store nothing.

    Raises:
        UsageError: for a corpus that is not here, or with too little variety for the vocabulary;
            without the package `tokenizers`.

    Cost: 5 s for 4 MB when first made, then 10 ms.
    """
    try:
        import tokenizers
    except ImportError:
        raise UsageError(
            "the exercises need the package tokenizers; pip install 'depthlaw[empirics]'"
        ) from None
    name = f"{digest}-bpe{vocabulary}-tokenizers{tokenizers.__version__}.npz"
    path = Path(folder) / "corpora" / name
    if folder and path.is_file():
        try:
            # From memory: of a damaged file numpy would leave the file open.
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
                return CorpusTokens(stored["training"], stored["validation"])
        except (OSError, ValueError, KeyError, BadZipFile):
            pass  # damaged: made again
    tokens = _made(_read(digest, folder), vocabulary)
    if folder:
        packed = io.BytesIO()
        np.savez(packed, training=tokens.training, validation=tokens.validation)
        _write(path, packed.getvalue())
    return tokens


def _made(corpus: Corpus, vocabulary: int) -> CorpusTokens:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    # BPE takes hours for a word as long as a file, such as a line without spaces.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\S{64}|\s{64}"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(corpus.training, trainer)
    if tokenizer.get_vocab_size() != vocabulary:
        raise UsageError(
            f"the corpus has too little variety: only {tokenizer.get_vocab_size()} of "
            f"{vocabulary} tokens occur in it; give another by --corpus FILE"
        )

    def ids(texts: tuple[str, ...]) -> np.ndarray:
        return np.concatenate(
            [
                np.array(encoding.ids, dtype=np.uint16)
                for encoding in tokenizer.encode_batch(list(texts))
            ]
        )

    return CorpusTokens(ids(corpus.training), ids(corpus.validation))


def _prepare(corpus: Corpus | None, cases: Sequence[Case], folder: str) -> None:
    """Store a corpus of the user's, and the tokens that the cases ask for."""
    if corpus is not None and cases:
        keep(corpus, folder)
    for digest, vocabulary in sorted({(case.corpus, case.vocabulary) for case in cases}):
        encoded(digest, vocabulary, folder)


TEXT = Input("corpus", "trains on a text", STANDARD, own, _prepare)
