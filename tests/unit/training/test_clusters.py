import json

import numpy as np
import pytest

from service.errors import CorpusError
from service.training.clusters import cluster, read_vectors


def test_words_of_one_direction_share_a_cluster():
    rng = np.random.default_rng(0)
    directions = np.eye(8, dtype=np.float32)[rng.integers(0, 8, 800)]
    vectors = 5 * directions + rng.normal(scale=0.05, size=(800, 8)).astype(np.float32)
    # what all words share, and what is frequency alone, must not decide
    padded = np.hstack([vectors, np.full((800, 1), 30, np.float32)]).astype(np.float32)
    padded[:, :3] += 100 * rng.normal(size=(800, 3)).astype(np.float32)
    found = cluster(padded, 5, seed=1)
    for kind in range(3, 8):
        members = found[directions[:, kind] == 1]
        assert (members == np.bincount(members).argmax()).mean() > 0.95


def test_the_same_seed_gives_the_same_clusters():
    vectors = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
    assert (cluster(vectors, 7, seed=1) == cluster(vectors, 7, seed=1)).all()
    assert set(cluster(vectors, 7, seed=1)) <= set(range(7))


def test_more_clusters_than_words_are_all_right():
    vectors = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    assert len(cluster(vectors, 9, seed=1)) == 5


@pytest.mark.parametrize("suffix", [".json", ".txt"])
def test_vectors_are_read_from_either_format(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    vectors = {"the": [1.0, 2.0], "of": [3.0, 4.0], "rare": [5.0, 6.0]}
    if suffix == ".json":
        # numbers behind the vector's own are not its own
        longer = {word: [*numbers, 9, 9] for word, numbers in vectors.items()}
        path.write_text(json.dumps({"dimensions": 2, "words": list(vectors), "vectors": longer}))
    else:
        path.write_text("".join(f"{w} {v[0]} {v[1]}\n" for w, v in vectors.items()))
    words, numbers = read_vectors(path, most=2)
    assert words == ["the", "of"]
    assert numbers.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("name", "content"), [("v.json", "{"), ("v.json", "{}"), ("v.txt", "the one two\n")]
)
def test_what_holds_no_vectors_is_refused_by_name(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(CorpusError, match="no word vectors"):
        read_vectors(path, most=5)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match="nowhere"):
        read_vectors(tmp_path / "nowhere.json", most=5)
