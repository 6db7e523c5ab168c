"""What every model that ships keeps, on inputs that broke other taggers."""

import itertools
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from service.config import Settings
from service.decoding import best_paths
from service.pipeline import annotate
from service.store.registry import Registry, load_model
from service.taggers import FeatureTagger
from service.taggers.explanation import explanation_of
from service.text.tokenizer import Tokenizer

MODELS = Path(__file__).parents[2] / "models"
NAMES = sorted(path.parent.name for path in MODELS.glob("*/manifest.json"))
MB = 1_000_000
TOKENIZER = Tokenizer()
TEXTS = [
    "",
    " \t\r\n\u2028 ",
    "Jane Villanueva of United Airlines",
    "📷 .@MatthewDaddario",
    "i want 👞",
    "𐤀𐤁𐤂 was written by the Phoenicians",
    "Hello my name is \u200c Chris Kamphuis",
    "e\u0301cole in Zu\u0308rich, \u00e9cole in Z\u00fcrich",
    "İstanbul and ISTANBUL",
    "I am a student named John\nSmith.",
    "  Two   blanks,\ttabs,\r\nCRLF, \x0b, \x85 and \u2028 between  words ",
    "northern food in the north part",
    "breathe the e cig",
    "lone \udddd1975 surrogate",
    "50 क्या आपके पास",
    "我来到北京清华大学",
    "where is the bar?",
    "US- based, decent--let alone well-bred--people, 5.975,74",
    "haven't can't HAVEN'T can’t",
    "i saw obama and trump",
    "JOHN DOE",
    "contact" * 800,
    "\n" * 1000 + "Jane" + "\n" * 1000,
    "NUL \x00 in the middle",
    "مرحبا جين من شركة يونايتد",
    "👩\u200d👩\u200d👧 🇩🇪 👍🏽 1\ufe0f\u20e3",
    "B-PER I-PER O B-O",
    "word " * 3000,
]


@pytest.fixture(scope="module", params=NAMES)
def model(request):
    return load_model(MODELS / request.param, max_unseen_words=1000)


def run(model, *texts):
    documents = [TOKENIZER.tokenize(text) for text in texts]
    spans = model.manifest.task == "ner"
    return annotate(model.tagger, documents, spans=spans, max_sentence_tokens=10_000)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:30]))
def test_a_hostile_text_is_tagged_word_by_word(model, text):
    [found] = run(model, text)
    tokens = found.tokens
    assert len(found.tag_ids) == len(tokens.words)
    slices = [text[a:b] for a, b in zip(tokens.starts, tokens.ends, strict=True)]
    assert slices == tokens.words
    assert "".join(slices) == "".join(text.split())


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:30]))
def test_spans_are_whole_words_in_order_without_white_space_at_their_edges(model, text):
    [found] = run(model, text)
    tags = [found.labels[i] for i in found.tag_ids]
    for before, after in itertools.pairwise(found.spans):
        assert before.token_end <= after.token_start
    for span in found.spans:
        start, end = found.tokens.starts[span.token_start], found.tokens.ends[span.token_end - 1]
        assert text[start:end] == text[start:end].strip() != ""
        assert tags[span.token_start : span.token_end] == [
            f"B-{span.label}",
            *[f"I-{span.label}"] * (span.token_end - span.token_start - 1),
        ]


def test_documents_are_tagged_alike_alone_and_in_a_batch(model):
    together = run(model, *TEXTS)
    for text, found in zip(TEXTS, together, strict=True):
        [alone] = run(model, text)
        assert alone.tag_ids.tolist() == found.tag_ids.tolist()
        assert alone.spans == found.spans


@pytest.mark.parametrize("gap", ["\n", "\r\n", "  ", "\t", "\u2028"])
def test_the_kind_of_white_space_changes_no_tag(model, gap):
    text = "I am a student named John Smith. He works at United Airlines in Paris."
    [expected], [found] = run(model, text), run(model, text.replace(" ", gap))
    assert found.tag_ids.tolist() == expected.tag_ids.tolist()
    assert found.spans == expected.spans


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:30]))
def test_the_features_that_a_crf_tells_of_add_up_to_its_emissions(model, text):
    assert isinstance(model.tagger, FeatureTagger) == (model.manifest.architecture == "crf")
    if isinstance(model.tagger, FeatureTagger):
        tokens = TOKENIZER.tokenize(text)
        words, offsets = tokens.words[:200], np.minimum(tokens.sentence_offsets, 200)
        scores = model.tagger.score(words, offsets)
        fired = model.tagger.fired_features(words, offsets)
        for features, row in zip(fired, scores.emissions, strict=True):
            assert sum(f.weights for f in features) == pytest.approx(row, abs=1e-4)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:30]))
def test_a_trellis_shows_the_labels_and_leads_along_the_tags(model, text):
    tokens = TOKENIZER.tokenize(text)
    words, offsets = tokens.words[:200], np.minimum(tokens.sentence_offsets, 200)
    scores = model.tagger.score(words, offsets)
    trellis = explanation_of(model.tagger, words, scores, model.manifest.temperature).trellis
    assert set(trellis.tags) == set(model.manifest.labels)
    tags = [model.tagger.labels[state] for state in best_paths(scores)]
    assert [trellis.tags[tag] for tag in trellis.path] == tags
    for first, end in itertools.pairwise(offsets.tolist()):
        for token in range(first + 1, end):
            before = trellis.back_pointers[token, trellis.path[token]]
            assert before == trellis.path[token - 1]


def test_its_probabilities_are_right_as_often_as_they_say(model):
    errors = [s.value for s in model.manifest.scores if s.metric == "token_ece"]
    assert all(error <= 0.03 for error in errors)


def test_an_endless_word_changes_no_tag_far_from_it(model):
    plain = "Jane Villanueva of United Airlines. "
    [alone], [after] = run(model, plain), run(model, plain + "\n\n" + "contact" * 800)
    assert after.tag_ids.tolist()[: len(alone.tag_ids)] == alone.tag_ids.tolist()


def test_each_is_small_and_has_a_card_with_its_licence_and_its_data(model):
    directory = MODELS / model.manifest.name
    most = (25 if model.manifest.architecture == "elmo" else 15) * MB
    assert sum(path.stat().st_size for path in directory.iterdir()) < most
    card = (directory / "README.md").read_text()
    assert model.manifest.licence in card
    for source in model.manifest.sources:
        assert source.licence in card
        assert source.name in card


def test_the_notice_names_where_the_data_are_from(model):
    notice = (MODELS.parent / "NOTICE").read_text()
    for source in model.manifest.sources:
        assert (source.url or source.name) in notice


def test_all_together_are_small():
    assert sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file()) < 100 * MB


def test_what_is_loaded_by_default_is_what_the_decisions_say():
    registry = Registry.open(Settings(models_dir=MODELS))
    assert sorted(registry.loaded) == [
        "en-ner-char-bilstm-crf",
        "en-pos-char-bilstm-crf",
        "en-pos-janet",
        "en-upos-crf",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Jane Villanueva of United Airlines", [("PER", 0, 2), ("ORG", 3, 5)]),
        ("i saw obama in london", [("PER", 2, 3), ("LOC", 4, 5)]),
        ("JOHN DOE WORKS AT MICROSOFT", [("PER", 0, 2), ("ORG", 4, 5)]),
        ("I am a student named John\nSmith.", [("PER", 5, 7)]),
        ("Hello my name is \u200c Chris Kamphuis", [("PER", 5, 7)]),
        ("where is the bar?", []),
    ],
)
@pytest.mark.parametrize("name", ["en-ner-char-bilstm-crf", "en-ner-crf"])
def test_names_are_found_in_any_case_and_layout(name, text, expected):
    [found] = run(load_model(MODELS / name, 10), text)
    assert [(s.label, s.token_start, s.token_end) for s in found.spans] == expected


def test_composed_and_decomposed_text_have_the_same_number_of_words(model):
    text = "École in Zürich and São Paulo"
    [composed], [decomposed] = run(model, text), run(model, unicodedata.normalize("NFD", text))
    assert len(composed.tag_ids) == len(decomposed.tag_ids)
