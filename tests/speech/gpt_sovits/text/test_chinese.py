"""Mandarin: normalisation, readings, tone sandhi."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.speech.gpt_sovits.text.chinese import chinese_phones
from rocm_wizard.speech.gpt_sovits.text.chinese_numbers import cardinal, normalise_chinese
from tests.speech.gpt_sovits.text.bench import ANY_TEXT

# What the public GPT-SoVITS front end (commit 48b1a016, pypinyin readings) gave for the same sentences.
_PUBLIC = [
    ("你好，世界！", "n i2 h ao3 , sh ir4 j ie4 !"),
    ("我一直不知道他是一个老师。", "w o3 y i4 zh ir2 b u4 zh ir1 d ao4 t a1 sh ir4 y i2 g e5 l ao3 sh ir1 ."),
    ("你好不好？我想买两把雨伞。", "n i3 h ao3 b u5 h ao3 ? w o2 x iang3 m ai3 l iang2 b a3 y v2 s an3 ."),
    ("展览馆里有很多纸老虎。", "zh an2 l an2 g uan3 l i2 y ou3 h en3 d uo1 zh ir3 l ao2 h u3 ."),
    ("不要怕，不一定是不对的。", "b u2 y ao4 p a4 , b u4 y i2 d ing4 sh ir4 b u2 d ui4 d e5 ."),
    (
        "这个东西很便宜，朋友们都喜欢。",
        "zh e4 g e5 d ong1 x i5 h en3 p ian2 y i5 , p eng2 y ou5 m en5 d ou1 x i3 h uan5 .",
    ),
    (
        "虽然下雨了，但是我们还是去了公园。",
        "s ui1 r an2 x ia4 y v3 l e5 , d an4 sh ir4 w o3 m en5 h ai2 sh ir4 q v4 l e5 g ong1 y van2 .",
    ),
    (
        "我的电话是13812345678。",
        "w o3 d e5 d ian4 h ua4 sh ir4 y ao1 s an1 b a1 y ao1 EE er4 s an1 s i04 w u3 l iu4 q i1 b a1 .",
    ),
    (
        "显卡驱动崩溃了两次，请重启电脑。",
        "x ian2 k a3 q v1 d ong4 b eng1 k ui4 l e5 l iang3 c i04 , q ing3 ch ong2 q i3 d ian4 n ao3 .",
    ),
    ("他跑了过来，又走了出去。", "t a1 p ao3 l e5 g uo4 l ai5 , y ou4 z ou3 l e5 ch u1 q v5 ."),
    ("音乐会上她唱得很好听。", "y in1 y ve4 h ui4 sh ang4 t a1 ch ang4 d e5 h en2 h ao3 t ing1 ."),
    ("哪里有水？", "n a2 l i2 y ou3 sh ui3 ?"),
]


def _spoken(sentence: str) -> str:
    return " ".join(chinese_phones(normalise_chinese(sentence))[0])


@pytest.mark.parametrize(("sentence", "phones"), _PUBLIC)
def test_as_the_public_front_end(sentence: str, phones: str) -> None:
    assert _spoken(sentence) == phones


@pytest.mark.parametrize(
    ("word", "phones"),
    [
        # The public front end has other tones here: a textbook's are these.
        ("真不错", "zh en1 b u2 c uo4"),
        ("不在", "b u2 z ai4"),
        ("银行行长", "y in2 h ang2 h ang2 zh ang3"),
        ("时间还长", "sh ir2 j ian1 h ai2 ch ang2"),
        ("慢慢地走", "m an4 m an4 d e5 z ou3"),
        ("三月一日", "s an1 y ve4 y i1 r ir4"),
        ("十一个", "sh ir2 y i1 g e5"),
        ("第一次", "d i4 y i1 c i04"),
        ("一天", "y i4 t ian1"),
        ("看一看", "k an4 y i5 k an4"),
        ("一千", "y i4 q ian1"),
        ("对不起", "d ui4 b u5 q i3"),
        ("姐姐想走走", "j ie3 j ie5 x iang3 z ou2 z ou5"),
        ("花儿", "h ua1 EE er1"),
        ("女儿", "n v3 EE er2"),
        ("电子", "d ian4 z i03"),
        ("桌子", "zh uo1 z i05"),
        ("妻子", "q i1 z i05"),
        ("嗯", "EE en1"),
        ("略", "l ve4"),
    ],
)
def test_readings_and_tones(word: str, phones: str) -> None:
    assert _spoken(word) == phones


@pytest.mark.parametrize(
    ("written", "normalised"),
    [
        ("2024年3月1日，气温-5℃，降雨概率50%。", "二零二四年三月一日,气温零下五摄氏度,降雨概率百分之五十."),
        ("2024-03-01 10:05开始，14:00结束", "二零二四年三月一日十点零五分开始,十四点结束"),
        ("价格是¥1,234.56，约占1/3", "价格是一千二百三十四点五六元,约占三分之一"),
        ("5-10份，每份2个，第2个", "五到十份,每份两个,第二个"),
        ("版本7.2.1，编号007", "版本七点二点一,编号零零七"),
        ("2000人，200人，2年级", "两千人,二百人,二年级"),
        ("100kg，8GB", "一百千克,八吉字节"),
        ("没问题……！！", "没问题…"),
        ("「你好」😀", "你好"),
        ("98年，3年前，-3.5%", "九八年,三年前,负百分之三点五"),
    ],
)
def test_numbers_and_symbols_are_spelt_out(written: str, normalised: str) -> None:
    assert normalise_chinese(written) == normalised


_VALUES = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_FACTORS = {"十": 10, "百": 100, "千": 1000}


def _value(words: str) -> int:
    """Reads a number back, by the rules of a reader and not of the writer."""
    for unit, factor in (("万亿", 10**12), ("亿", 10**8), ("万", 10**4)):
        if unit in words:
            high, _, low = words.partition(unit)
            return _value(high) * factor + (_value(low) if low else 0)
    total, digit = 0, 0
    for character in words:
        if character in _FACTORS:
            total += (digit or 1) * _FACTORS[character]
            digit = 0
        else:
            digit = _VALUES[character]
    return total + digit


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**16 - 1))
def test_a_number_read_back_is_the_number(number: int) -> None:
    assert _value(cardinal(number)) == number


def test_zeros_inside_a_number() -> None:
    numbers = (105, 1010, 10_500, 100_001_000, 1_000_000_001_000)
    assert [cardinal(number) for number in numbers] == [
        "一百零五",
        "一千零一十",
        "一万零五百",
        "一亿零一千",
        "一万亿零一千",
    ]


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT)
def test_every_character_has_its_phonemes(text: str) -> None:
    normalised = normalise_chinese(text)
    phones, counts = chinese_phones(normalised)
    assert len(counts) == len(normalised)
    assert sum(counts) == len(phones)
    assert all(count in (1, 2) for count in counts)
