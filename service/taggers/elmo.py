"""ELMo (Peters et al. 2018): a biLSTM-CRF that also reads what a language model says."""

from service.decoding import Constraints
from service.taggers.base import Parameters
from service.taggers.bilstm_crf import BilstmCrfTagger
from service.taggers.language_model import LanguageModel

LANGUAGE_MODEL = "lm_"
"""How the names of the arrays and vocabularies of the language model begin."""


def elmo_tagger(
    parameters: Parameters, constraints: Constraints, max_unseen_words: int
) -> BilstmCrfTagger:
    """Make the tagger.

    Parameters
    ----------
    parameters : see `BilstmCrfTagger`, and with names that begin with ``lm_`` those of
        `LanguageModel`.
    constraints : added to the scores.
    max_unseen_words : how many rows of words that are not known are kept.

    Raises
    ------
    ValueError
        Where an array or a vocabulary is missing or does not fit.
    """
    words = parameters.vocabulary("words")
    try:
        source = LanguageModel(parameters.part(LANGUAGE_MODEL), words, max_unseen_words)
    except ValueError as error:
        raise ValueError(f"of the language model, {error}") from error
    return BilstmCrfTagger(parameters, constraints, max_unseen_words, source)
