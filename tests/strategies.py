"""Texts for property tests: everything that the tables know, with what is hard for them made common."""

from hypothesis import strategies as st

from neardup.text.unicode_tables import assigned_ranges

PLAIN = "aAbZz09_-.,'  \n\t"
CJK = "中文法律第一条。，、“”々〇ひらがなカタカナー"
TRICKY = (
    "éßſﬁŉΐςΣİıǅŁ½²①Ａ１　\u00a0\u00ad\u200b\u200d\ufe0f\u0301\u0323\u0345\u0344\u1100\u1161\u11a8각"
    "क्षिंकำน้ำอ\u05d0\u05bc\u05b8\u064b\u0651か\u3099ｶﾞー゛￥㍿㎢\ufdfa\u2028\u0085\U0001f600\U0001d400\U00020000\U0002f800\U000e0100"
)
ASSIGNED = [code for first, last in assigned_ranges() for code in range(first, last) if not 0xD800 <= code < 0xE000]

characters = st.one_of(
    st.sampled_from(PLAIN), st.sampled_from(CJK), st.sampled_from(TRICKY), st.sampled_from(ASSIGNED).map(chr)
)
any_text = st.text(characters, max_size=200)
words = st.sampled_from("the quick brown fox jumps over lazy dogs 中国 法律 ひらがな and 42 don't stop".split())
word_text = st.lists(words, max_size=60).map(" ".join)
texts = st.one_of(any_text, word_text)
