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
SCRIPTS = (
    "ภาษาไทย๒๕ ລາວພາສາ ភាសាខ្មែរ မြန်မာဘာသာ၁ ꦧꦱꦗꦮ ᬩᬮᬶ ᨅᨔ ᯅᯖᯂ᯲ ꆈꌠ ᥖᥭᥰ ᦟᦲᧉ ᨲᩫ᩠ᩅ ꪼꪕ 𑜒𑜑𑜪 བོད་ཡིག "
    "العَرَبِيَّةـأإآٱىیيکكؤئ עִבְרִית ךם فارسی\u200cها\u200b\u0654\u0653 é ñ ё й Ελλάδας ܐܪܡܐܝܬ\u0730 हिन्दी தமிழ் አማርኛ 한국어 中文 かな"
)
EMOJI = "😀👍🏽❤\ufe0f☀★🇫🇷👨\u200d👩\u200d👧🀄🫠©®™▪→\U0001fae8\U0001f1e6"
of_all_scripts = st.text(st.one_of(st.sampled_from(SCRIPTS + EMOJI), characters), max_size=80)
"""Strings of scripts with and without spaces, of marks, and of emoji."""
any_text = st.text(characters, max_size=200)
words = st.sampled_from("the quick brown fox jumps over lazy dogs 中国 法律 ひらがな and 42 don't stop".split())
word_text = st.lists(words, max_size=60).map(" ".join)
texts = st.one_of(any_text, word_text)
