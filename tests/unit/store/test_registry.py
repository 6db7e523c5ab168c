import pytest

from service.config import Settings
from service.errors import ModelError, ModelNotFound, ModelNotLoaded, NoDefaultModel
from service.store.directory import write_model
from service.store.manifest import Manifest
from service.store.registry import SHOWN_MODEL, Registry
from service.taggers import Parameters
from service.text import tokenizer
from service.training.tables import tabulate

TABLES = {
    "tags": ["O", "B-X", "I-X"],
    "start": [0.5, 0.5, 0],
    "transitions": {tag: [0.4, 0.3, 0.3] for tag in ("O", "B-X", "I-X")},
    "emissions": {"a": {"O": 0.1}},
    "unknown": 0.1,
}


@pytest.fixture
def models(tmp_path):
    """Writes models of any name, task and tagset."""

    def write(name, task="tag", tagset="ptb", default=False):
        parameters: Parameters = tabulate(TABLES)
        manifest = Manifest(
            format=1,
            name=name,
            version="1.0.0",
            description="",
            language="en",
            task=task,
            tagset=tagset,
            architecture="hmm",
            labels=parameters.labels,
            tokenizer=tokenizer.VERSION,
            default=default,
            licence="",
            sources=(),
            scores=(),
            files={},
        )
        write_model(tmp_path / name, manifest, parameters, "")

    return write


@pytest.fixture
def open_registry(tmp_path):
    return lambda names="": Registry.open(Settings(models_dir=tmp_path, models=names))


def test_without_names_the_default_of_each_task_and_tagset_is_loaded(models, open_registry):
    models("en-pos-a")
    models("en-pos-b", default=True)
    models("en-upos-a", tagset="ud")
    models("en-ner-a", task="ner", tagset=None)
    models("en-ner-b", task="ner", tagset=None)
    registry = open_registry()
    assert set(registry.loaded) == {"en-pos-b", "en-upos-a", "en-ner-a"}
    assert list(registry.manifests) == ["en-ner-a", "en-ner-b", "en-pos-a", "en-pos-b", "en-upos-a"]
    assert registry.default("tag", "ptb").manifest.name == "en-pos-b"
    assert registry.default("ner", None).manifest.name == "en-ner-a"
    with pytest.raises(ModelNotLoaded, match=r"en-pos-a.*TRELLIS_MODELS"):
        registry.get("en-pos-a")


def test_the_model_that_the_page_shows_is_loaded_too(models, open_registry, tmp_path):
    models(SHOWN_MODEL)
    models("en-pos-z", default=True)
    registry = open_registry()
    assert set(registry.loaded) == {"en-pos-z", SHOWN_MODEL}
    assert registry.default("tag", "ptb").manifest.name == "en-pos-z"
    assert set(open_registry("en-pos-z").loaded) == {"en-pos-z"}
    assert set(Registry.open(Settings(models_dir=tmp_path, demo=False)).loaded) == {"en-pos-z"}


def test_alone_it_is_loaded_once(models, open_registry):
    models(SHOWN_MODEL)
    registry = open_registry()
    assert registry.default("tag", "ptb").manifest.name == SHOWN_MODEL


def test_the_first_name_of_a_task_and_tagset_is_its_default(models, open_registry):
    models("en-pos-a")
    models("en-pos-b", default=True)
    registry = open_registry(" en-pos-a, en-pos-b,")
    assert registry.default("tag", "ptb").manifest.name == "en-pos-a"
    assert registry.get("en-pos-b").manifest.name == "en-pos-b"


def test_a_default_that_lies_there_unloaded_is_named(models, open_registry):
    models("en-pos-a")
    models("en-ner-a", task="ner", tagset=None)
    registry = open_registry("en-pos-a")
    with pytest.raises(ModelNotLoaded, match="en-ner-a"):
        registry.default("ner", None)
    with pytest.raises(NoDefaultModel, match="no model answers /tag with the tagset ud"):
        registry.default("tag", "ud")
    with pytest.raises(ModelNotFound, match="there are: en-ner-a, en-pos-a"):
        registry.get("en-pos-z")


def test_a_named_model_that_is_not_there_ends_the_start(models, open_registry):
    models("en-pos-a")
    with pytest.raises(ModelError, match=r"en-pos-z.*no such model"):
        open_registry("en-pos-a,en-pos-z")


def test_a_directory_without_models_ends_the_start(tmp_path, open_registry):
    with pytest.raises(ModelError, match="no model lies there"):
        open_registry()
    with pytest.raises(ModelError, match="nowhere"):
        Registry.open(Settings(models_dir=tmp_path / "nowhere"))


def test_a_damaged_manifest_ends_the_start_even_where_the_model_is_not_loaded(
    models, open_registry, tmp_path
):
    models("en-pos-a")
    models("en-pos-b")
    (tmp_path / "en-pos-b" / "manifest.json").unlink()
    with pytest.raises(ModelError, match=r"en-pos-b/manifest\.json"):
        open_registry("en-pos-a")


def test_what_is_no_model_is_passed_over(models, open_registry, tmp_path):
    models("en-pos-a")
    (tmp_path / "README.md").write_text("")
    (tmp_path / "lost+found").mkdir()
    (tmp_path / "en-pos-planned").mkdir()
    (tmp_path / "en-pos-planned" / "recipe.toml").write_text("")
    assert list(open_registry().manifests) == ["en-pos-a"]
