"""Model directories: what is written is read again, and no hostile file gets past the checks."""

import hashlib
import json
import os
import pickle
import struct

import numpy as np
import orjson
import pytest
import safetensors.numpy

from service.decoding import best_paths
from service.errors import ModelError
from service.store.directory import read_manifest, write_model
from service.store.manifest import Manifest
from service.store.registry import load_model
from service.taggers import Parameters
from service.text import tokenizer

LABELS = ("N", "V")


def manifest(**replaced):
    return Manifest(
        **{
            "format": 1,
            "name": "xx-pos-made",
            "version": "1.2.3",
            "description": "made by a test",
            "language": "xx",
            "task": "tag",
            "tagset": "made",
            "architecture": "hmm",
            "labels": LABELS,
            "tokenizer": tokenizer.VERSION,
            "default": False,
            "licence": "none",
            "sources": (),
            "scores": (),
            "files": {},
            **replaced,
        }
    )


def parameters(labels=LABELS):
    tags = len(labels)
    return Parameters(
        labels,
        {
            "start": np.log(np.linspace(0.1, 0.9, tags)),
            "transitions": np.zeros((tags, tags)),
            "end": np.zeros(tags, dtype=np.float32),
            "emissions": np.array([np.arange(tags), -np.arange(tags)], dtype=np.float16),
            "suffix_emissions": np.zeros((1, tags)),
        },
        {"words": ["a", 'odd "\u2028\x00word'], "suffixes": [""]},
    )


@pytest.fixture
def model(tmp_path):
    """A written model directory."""
    directory = tmp_path / "models" / "xx-pos-made"
    write_model(directory, manifest(), parameters(), "# card\n")
    return directory


def edit_manifest(model, change):
    path = model / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def replace_file(model, name, content, **described):
    """Put another file in, with a manifest that vouches for it."""
    (model / name).write_bytes(content)

    def vouch(content_of_manifest):
        spec = content_of_manifest["files"].setdefault(name, {})
        spec["sha256"] = hashlib.sha256(content).hexdigest()
        spec["size_bytes"] = len(content)
        spec.update(described)

    edit_manifest(model, vouch)


def refusal(model):
    """The file and the reason of the one-line error that loading gives."""
    with pytest.raises(ModelError) as caught:
        load_model(model, 10)
    assert "\n" not in str(caught.value)
    return caught.value.file, caught.value.reason


def test_a_model_is_read_as_it_was_written(model):
    loaded = load_model(model, 10)
    assert loaded.manifest == read_manifest(model)
    assert loaded.manifest.model_copy(update={"files": {}}) == manifest()
    scores = loaded.tagger.score(["a", 'odd "\u2028\x00word'], np.array([0, 2]))
    assert scores.emissions.tolist() == [[0, 1], [0, -1]]
    assert len(best_paths(scores)) == 2


def test_the_same_model_gives_the_same_bytes(model, tmp_path):
    again = tmp_path / "again" / "xx-pos-made"
    write_model(again, manifest(), parameters(), "# card\n")
    files = {path.name: path.read_bytes() for path in model.iterdir()}
    assert files == {path.name: path.read_bytes() for path in again.iterdir()}
    assert set(files) == {
        "README.md",
        "manifest.json",
        "suffixes.json",
        "weights.safetensors",
        "words.json",
    }


def test_writing_again_keeps_other_files_and_leaves_no_rest(model):
    (model / "recipe.toml").write_text("kept")
    write_model(model, manifest(version="2.0.0"), parameters(), "# card\n")
    assert (model / "recipe.toml").read_text() == "kept"
    assert load_model(model, 10).manifest.version == "2.0.0"
    assert not list(model.glob("*.partial"))


@pytest.mark.parametrize("name", ["manifest.json", "weights.safetensors", "words.json"])
def test_a_missing_file_is_named(model, name):
    (model / name).unlink()
    file, reason = refusal(model)
    assert file.endswith(name)
    assert "o such file" in reason


@pytest.mark.parametrize("name", ["weights.safetensors", "words.json", "suffixes.json"])
def test_a_truncated_file_is_named(model, name):
    content = (model / name).read_bytes()
    (model / name).write_bytes(content[:-1])
    file, reason = refusal(model)
    assert file.endswith(name)
    assert f"{len(content) - 1} bytes; the manifest says {len(content)}" in reason


@pytest.mark.parametrize("name", ["weights.safetensors", "words.json", "suffixes.json"])
def test_a_damaged_file_is_named(model, name):
    content = bytearray((model / name).read_bytes())
    content[-2] ^= 1
    (model / name).write_bytes(content)
    file, reason = refusal(model)
    assert file.endswith(name)
    assert "checksum" in reason


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"null", b"[" * 100_000])
def test_a_malformed_manifest_is_refused(model, content):
    (model / "manifest.json").write_bytes(content)
    file, _ = refusal(model)
    assert file.endswith("manifest.json")


def test_a_loop_of_links_is_refused(model):
    for name in ("words.json", "manifest.json"):
        (model / name).unlink()
        (model / name).symlink_to(name)
        assert refusal(model)[0].endswith(name)


def test_a_manifest_that_never_ends_is_not_read(model):
    (model / "manifest.json").unlink()
    os.mkfifo(model / "manifest.json")
    assert "not a regular file" in refusal(model)[1]
    (model / "manifest.json").unlink()
    (model / "manifest.json").symlink_to("/dev/zero")
    assert "leaves the model directory" in refusal(model)[1]


def test_a_huge_manifest_is_not_read(model):
    with (model / "manifest.json").open("wb") as file:
        file.truncate(10**12)
    assert "larger than" in refusal(model)[1]


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("format", 2, "format"),
        ("name", "xx-pos-other", "unlike its directory"),
        ("name", "../evil", "name"),
        ("version", "1", "version"),
        ("tokenizer", "0", "needs tokenizer 0"),
        ("architecture", "oracle", "unknown architecture oracle; known: "),
        ("labels", [], "labels"),
        ("labels", ["N"], "shape"),
        ("labels", ["N", "N"], "a label twice"),
        ("labels", [f"L{i}" for i in range(1001)], "labels"),
        ("architecture", "two\nlines", "architecture"),
        ("two\nlines", 1, "two lines"),
        ("task", "parse", "task"),
        ("task", "ner", "no BIO tag"),
        ("surprise", 1, "surprise"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(model, field, value, reason):
    edit_manifest(model, lambda content: content.update({field: value}))
    assert reason in refusal(model)[1]


@pytest.mark.parametrize("name", ["../words.json", "/etc/passwd", "a/b.json", "..", ".hidden.json"])
def test_a_file_name_that_leaves_the_directory_is_refused(model, name):
    edit_manifest(
        model, lambda content: content["files"].update({name: content["files"]["words.json"]})
    )
    file, reason = refusal(model)
    assert file.endswith("manifest.json")
    assert "files" in reason


def test_a_link_that_leaves_the_directory_is_refused(model, tmp_path):
    outside = tmp_path / "outside.json"
    (model / "words.json").rename(outside)
    (model / "words.json").symlink_to(outside)
    file, reason = refusal(model)
    assert file.endswith("words.json")
    assert "leaves the model directory" in reason


def test_a_link_within_the_directory_is_followed(model):
    """Kubernetes mounts files as links into a hidden folder beside them."""
    (model / "..data").mkdir()
    (model / "words.json").rename(model / "..data" / "words.json")
    (model / "words.json").symlink_to("..data/words.json")
    load_model(model, 10)


def test_a_directory_in_place_of_a_file_is_refused(model):
    (model / "words.json").unlink()
    (model / "words.json").mkdir()
    assert "not a regular file" in refusal(model)[1]


def safetensors_with_header(header, data=b""):
    return struct.pack("<Q", len(header)) + header + data


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 7,
        struct.pack("<Q", 2**63),  # a header larger than any file
        struct.pack("<Q", 99_000_000),  # one larger than this file
        safetensors_with_header(b"{" + b" " * 1000),
        safetensors_with_header(b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'),
        safetensors_with_header(
            b'{"a":{"dtype":"F32","shape":[4611686018427387904,8],"data_offsets":[0,8]}}', b"\0" * 8
        ),
        safetensors_with_header(
            b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}', b"\0" * 16
        ),
        safetensors_with_header(b'{"a":{"dtype":"object","shape":[],"data_offsets":[0,0]}}'),
        pickle.dumps({"a": np.zeros(3)}),
    ],
)
def test_a_hostile_weights_file_is_refused_even_where_the_manifest_vouches_for_it(model, content):
    replace_file(model, "weights.safetensors", content)
    file, reason = refusal(model)
    assert file.endswith("weights.safetensors")
    assert "safetensors" in reason


def test_a_pickle_is_never_opened(model):
    class Bomb:
        def __reduce__(self):
            return (model.joinpath("went-off").touch, ())

    content = pickle.dumps(Bomb())
    for name in ("weights.safetensors", "words.json", "extra.pkl"):
        replace_file(model, name, content)
        refusal(model)
    assert not (model / "went-off").exists()


def test_shapes_unlike_the_manifest_s_are_refused_by_name(model):
    arrays = {**parameters().arrays, "start": np.zeros(5)}
    replace_file(model, "weights.safetensors", safetensors.numpy.save(arrays))
    assert refusal(model)[1] == "types or shapes unlike the manifest's: start"


def test_shapes_that_the_tagger_cannot_use_are_refused_by_name(model):
    arrays = {**parameters().arrays, "start": np.zeros(5)}
    write_model(model, manifest(), Parameters(LABELS, arrays, parameters().vocabularies), "")
    assert "start is float64 of shape (5,); expected" in refusal(model)[1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "malformed JSON"),
        (b"[1, 2]", "expected an array of strings"),
        (b'{"a": 1}', "expected an array of strings"),
        (b'["\\udddd", "a"]', "malformed JSON"),
        (b"\xff", "malformed JSON"),
        (b"[" * 100_000, "malformed JSON"),
        (orjson.dumps(["only one"]), "1 entries; the manifest says 2"),
    ],
)
def test_a_malformed_vocabulary_is_refused(model, content, reason):
    replace_file(model, "words.json", content)
    file, found = refusal(model)
    assert file.endswith("words.json")
    assert reason in found


def test_a_file_of_no_known_kind_is_refused(model):
    replace_file(model, "run.py", b"print()")
    assert "neither weights nor a vocabulary" in refusal(model)[1]
