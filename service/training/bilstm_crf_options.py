"""The options of a biLSTM-CRF: apart from its training, which needs PyTorch."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class BilstmCrfOptions(BaseModel):
    """The ``[options]`` of a biLSTM-CRF recipe."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scheme: Literal["bio", "bioes"] = Field(
        "bio", description="What the network works in; of BIOES tags nothing is seen outside."
    )
    epochs: int = Field(ge=1, description="Passes over the training data at most.")
    patience: int = Field(5, ge=1, description="Epochs without a better dev score that end it.")
    sentences_at_once: int = Field(32, ge=1, description="Sentences of a batch.")
    learning_rate: float = Field(2e-3, gt=0, description="The highest of the schedule.")
    averaging: float = Field(
        0.999, ge=0, lt=1, description="How much of the running mean of the weights a step keeps."
    )
    clip: float = Field(5.0, gt=0, description="Longest gradient.")
    dropout: float = Field(0.5, ge=0, lt=1, description="Of the inputs and states of the biLSTMs.")
    hidden: int = Field(128, ge=1, description="Width of a biLSTM, a direction.")
    layers: int = Field(1, ge=1, description="biLSTMs, each of which reads the one below.")
    word_width: int = Field(
        100, ge=1, description="Width of word vectors where none are pretrained."
    )
    case_width: int = Field(10, ge=1, description="Width of the vectors of kinds of case.")
    character_width: int = Field(25, ge=1, description="Width of the vectors of characters.")
    character_hidden: int = Field(
        25, ge=0, description="Width of the character biLSTM, a direction; 0 leaves it out."
    )
    words: int = Field(
        100_000, ge=0, description="Word vectors at most: those of training words come first."
    )
    min_word_count: int = Field(
        2, ge=1, description="Words without a pretrained vector get one if they come this often."
    )
    unknown_share: float = Field(
        0.5, ge=0, le=1, description="Of words that come once, how often they are made unknown."
    )
    recased_share: float = Field(
        0.0, ge=0, le=1, description="Share of the sentences in lower or upper case, an epoch."
    )
    gold_share: float = Field(
        0.5, ge=0, le=1, description="How much gold tags count where a network has teachers too."
    )
    begins_as_teacher: bool = Field(
        False, description="Whether a network begins with the weights of its first teacher."
    )
    runs: int = Field(
        1,
        ge=1,
        description="Trainings from the weights of the teacher, whose results' mean is kept.",
    )
    threads: int = Field(1, ge=1, description="Threads of PyTorch; another number, other bytes.")
