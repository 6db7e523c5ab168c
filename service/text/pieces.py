"""How a chunk of text splits into words, as the English UD treebanks (EWT, GUM) split it."""

from collections.abc import Iterable
from itertools import accumulate, chain, pairwise
from operator import itemgetter

import regex

# M is what never leaves its base (marks, joiners, skin tones), L a character of a word with its
# marks, APART a place that no word touches from before, END a place that none touches from after.
# Every repetition either keeps for good what it has scanned or is bounded, so that matching is
# linear in the length of the chunk. `\X` is not used: at each flag it looks back over all flags.
# Marks are looked for wherever a letter stands, so that NFC and NFD texts split alike.
_M = r"[\p{M}\p{GCB=Extend}\u200D]"
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}"
_UPPER = r"\p{Lu}\p{Lt}"
_APART = rf"(?<![\p{{L}}\p{{N}}_]{_M}*)"
_KEYCAP = r"[0-9\#*]\uFE0F?\u20E3"
_L = rf"(?:(?!{_KEYCAP})[[\p{{L}}\p{{N}}_]--[{_CJK}]]{_M}*+)"
_END = rf"(?![\p{{L}}\p{{N}}_]|{_M})"

_PIECE = regex.compile(
    rf"""
    # Scripts without blanks: a character is a word
    [{_CJK}]{_M}*+
    # Most words
  | [\p{{L}}--[{_CJK}]]{{2,}}+(?=[,;!?)"”]|\Z)
    # Keycaps
  | {_KEYCAP}{_M}*+
  | (?=[\p{{L}}\p{{N}}_])(?:
        # Web and mail addresses
        (?i:(?:https?|ftps?|file)://|www\.)
            (?:\([^\s()]*+\)|[^\s()<>"“”]|[<>]{_M})*(?<![.,;:!?'’*\]}}]){_M}*+
      | [\w.%+-]{{1,64}}+@[\w-]++(?:\.[\w-]++)*+{_M}*+
        # Abbreviations
      | (?i:mr|mrs|ms|dr|st|vs|etc|inc|ltd|corp|co|jr|sr|gen|lt|rev|gov|reps?|sen|capt|col|prof
           |hon|sgt|maj|cpl|adm|mlle|jan|feb|apr|aug|sept|oct|nov|dec|mon|tues?|wed|thurs?|fri|sat
           |ph\.d|m\.sc|arrv|attn|approx|ave|blvd|bros|ca|cf|dept|eg|esp|ft|pp|univ|viz|vol|al
           |[bcdp])\.(?!\w|\.\.)
      | (?:[{_UPPER}\p{{Ll}}]{_M}*+\.){{2,12}}+(?!\w|\.\.)
      | (?!I\.)[{_UPPER}]{_M}*+\.(?!\w|\.\.)
        # Numbers: of telephones, dates, decades; a number before its unit
      | \d{{1,5}}(?:-\d{{2,8}}){{2,6}}+{_END}
      | (?:\d|\d{{3}}|\d{{5}})-\d{{4}}{_END}
      | \d{{1,3}}0['’]s{_END}
      | \d[\d.,:]{{0,30}}+(?=(?:[mg]|(?i:[ap]\.?m|[ckm]m|kg|k|ft|lbs?|hrs?|mins?|oz|mph|[kmg]b
                                         |[kmg]?hz|bn)){_END})
      | (?<=[$€£])\d[\d.,]{{0,30}}+(?=[KMBTbt]{_END})
        # Words that were broken off in speech: "w- what"
      | (?:\p{{Latin}}{_M}*+|[B-DF-HJ-NP-TV-Zb-df-hj-np-tv-z][b-df-hj-np-tv-z]{{1,2}})-(?![\w-])
        # Words, with what joins them
      | (?:(?i:anti|co|counter|cross|e|ex|inter|intra|mid|mini|mis|multi|neo|non|over|pan|post|pre
              |pro|psycho|re|semi|socio|sub|un)-(?=\p{{L}}))*+
        {_L}++
        (?:
            (?:(?<=\d)[.,:/](?=\d)
              |['’](?=\p{{L}})
              |[\u00AD\u2060\uFEFF](?=\p{{L}})
              |\.(?=[\p{{Ll}}\d])
              |(?<=[{_UPPER}]{_M}*)[.&](?=[{_UPPER}])
              |(?<=\p{{Ll}}{_M}*)&(?=\p{{Ll}})
              |(?<={_APART}\p{{Latin}}{_M}*)/(?=\p{{Latin}}{_M}*+{_END})
            )
            {_L}++
        )*+
    )
    # Hashtags and mentions, entities, what a word lost its beginning of, signed numbers
  | [\#@](?=[\p{{L}}_]){_L}++
  | &(?:\w{{1,8}}|\#\d{{1,8}});
  | ['’`](?i:s|m|d|re|ve|ll|em|til|cause|\d\ds?){_END}
  | (?=\+){_APART}\+\d++(?:-\d{{2,8}}){{0,6}}+{_END}
    # Emoticons, flags, emoji
  | (?=[:;=(<]){_APART}(?:[:;=]['’]?-?[()DPpOo/|\\\[\]*3]+|\(+-?[:;=](?!\w)|<3+){_END}(?!/)
  | (?<!\d)[:;]-?(?:\)+|\(+){_END}
  | \^_+\^
  | \p{{RI}}\p{{RI}}{_M}*+
  | \p{{Extended_Pictographic}}(?:{_M}|(?<=\u200D)\p{{Extended_Pictographic}})*+
    # Punctuation: a run stays together
  | (?:[.?!](?!{_M})){{2,}}+
  | (?:[-=*~+|<>{{}}](?!{_M})){{3,}}+
  | ([\p{{P}}\p{{S}}])(?!{_M})(?:\1(?!{_M}))*+
    # Anything else, with its marks
  | .{_M}*+
    """,
    regex.VERBOSE | regex.VERSION1 | regex.DOTALL,
)

# n't and 's leave the end of a word, but not of a decade: "1980's".
_CLITICS = regex.compile(
    r"(.+?)(n['’]t)?((?<!^\d{1,3}0)['’](?:s|m|d|re|ve|ll))?",
    regex.IGNORECASE | regex.DOTALL | regex.VERSION1,
)
_RUN_TOGETHER = (
    "can not,gon na,wan na,got ta,out ta,gim me,lem me,du n no,ai nt,ar nt,ca nt,could nt,did nt,"
    "do nt,does nt,had nt,has nt,have nt,is nt,should nt,was nt,were nt,wo nt,would nt,i m,i ve,"
    "you re,you ve,you ll,they re,it ll,that s,there s,what s,he s,let s,a lot"
)
# Words that are two or more, and where they part: "cannot" at 0, 3 and 6.
_SEAMS = {
    words.replace(" ", ""): tuple(accumulate(map(len, words.split()), initial=0))
    for words in _RUN_TOGETHER.split(",")
}


def pieces_of(chunk: str) -> tuple[str, ...]:
    """Split a chunk of text into the words that it is made of.

    Parameters
    ----------
    chunk : a string without white space, of any length.

    Returns
    -------
    The pieces: they cover the chunk wholly and in order, and none is empty. Time is linear in the
    length of the chunk.
    """
    # All ASCII letters are one word to `_PIECE` too, which takes far longer to say so.
    if chunk.isascii() and chunk.isalpha():
        return tuple(_parts_of(chunk))
    return tuple(chain.from_iterable(map(_parts_of, map(itemgetter(0), _PIECE.finditer(chunk)))))


def _parts_of(word: str) -> Iterable[str]:
    """Split a contraction; any other word stays whole."""
    if "'" in word or "’" in word:
        match = _CLITICS.fullmatch(word)
        return filter(None, match.groups()) if match else (word,)
    seams = _SEAMS.get(word.lower())
    return [word[start:end] for start, end in pairwise(seams)] if seams else (word,)
