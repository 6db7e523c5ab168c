import numpy as np

from service.decoding import Dictionary, Entry, with_evidence
from service.text.phrases import Phrase
from tests.made_chains import chain

LABELS = ("O", "B-A", "I-A", "B-A", "B-B", "I-B")  # states 1 and 3 bear the same


def added(entries, words):
    offsets = np.array([0, len(words)])
    scores = chain(np.zeros((len(words), len(LABELS))), np.zeros((6, 6)))
    dictionary = Dictionary([Entry(*each) for each in entries], LABELS)
    return with_evidence(scores, list(dictionary.evidence(words, offsets))).emissions.tolist()


def test_the_first_word_of_a_match_gains_as_a_beginning_and_the_others_as_what_goes_on():
    assert added([(Phrase(("new", "york", "city"), False), "A", 1.5)], ["New", "York", "City"]) == [
        [0, 1.5, 0, 1.5, 0, 0],
        [0, 0, 1.5, 0, 0, 0],
        [0, 0, 1.5, 0, 0, 0],
    ]


def test_weights_of_one_phrase_add_up():
    entries = [
        (Phrase(("paris",), False), "A", 1.0),
        (Phrase(("Paris",), True), "A", 2.0),
        (Phrase(("paris",), False), "B", -4.0),
    ]
    assert added(entries, ["in", "Paris"]) == [[0] * 6, [0, 3, 0, 3, -4, 0]]


def test_no_match_adds_nothing():
    assert added([(Phrase(("paris",), True), "A", 1.0)], ["PARIS"]) == [[0] * 6]
    assert added([], ["Paris"]) == [[0] * 6]


def test_one_phrase_is_evidence_once_however_many_entries_and_spellings_it_has():
    entries = [
        Entry(Phrase((spelling,), match_case=False), "A", 0.5)
        for spelling in ("paris", "Paris", "PARIS", "paris")
    ]
    dictionary = Dictionary(entries, LABELS)
    [evidence] = dictionary.evidence(["pARIs"], np.array([0, 1]))
    assert evidence.scores.tolist() == [0, 2, 0, 2, 0, 0]
