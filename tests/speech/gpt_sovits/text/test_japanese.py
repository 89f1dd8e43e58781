"""Japanese phonemes and pitch marks."""

import pytest

from rocm_wizard.speech.gpt_sovits.text.japanese import japanese_phones, normalise_japanese

# What the public GPT-SoVITS front end (v2 set, commit 48b1a016) gave for the same sentences on Open JTalk's dictionary.
_PUBLIC = [
    ("こんにちは。", "k o [ N n i ch i w a ."),
    ("今日は天気がいいですね。", "ky o ] o w a # t e ] N k i g a # i ] i d e s u n e ."),
    ("はい、そうですか？", "h a ] i , s o [ o d e s u ] k a ?"),
    ("東京タワーへ行きましょう！", "t o [ o ky o o t a ] w a a e # i [ k i m a sh o ] o !"),
    (
        "学校で日本語を勉強しています。",
        "g a [ cl k o o d e # n i [ h o N g o o # b e [ N ky o o sh i t e i m a ] s u .",
    ),
    ("明日、雨が降るかもしれません。", "a [ sh i t a , a ] m e g a # f u ] r u k a m o # sh i [ r e m a s e ] N ."),
    ("ありがとうございます！また来てね。", "a [ r i ] g a t o o # g o [ z a i m a ] s u ! m a [ t a # k i ] t e n e ."),
    # 箸 falls behind its first mora, 橋 behind its second, 端 not at all.
    (
        "お箸を持って橋の端を渡る。",
        "o [ h a ] sh i o # m o ] cl t e # h a [ sh i ] n o # h a [ sh i o # w a [ t a r u .",
    ),
    (
        "えっと……それは、ちょっと難しいかな。",
        "e [ cl t o … s o [ r e w a , ch o ] cl t o # m u [ z u k a sh i ] i k a n a .",
    ),
    (
        "10時30分に駅で待っています。",
        "j u ] u j i # s a [ N j u ] cl p u N n i # e ] k i d e # m a ] cl t e i m a s u .",
    ),
    ("何も言わなかった。", "n a ] n i m o # i [ w a n a ] k a cl t a ."),
    ("私の名前は田中です。", "w a [ t a sh i n o # n a [ m a e w a # t a [ n a k a d e ] s u ."),
    ("きゃあ、びっくりした！", "ky a ] a , b i [ cl k u ] r i sh i t a !"),
    ("ヴァイオリンを弾く。", "v a [ i o r i N o # h i [ k u ."),
]


@pytest.mark.parametrize(("sentence", "phones"), _PUBLIC)
def test_as_the_public_front_end(sentence: str, phones: str) -> None:
    assert " ".join(japanese_phones(normalise_japanese(sentence))) == phones


@pytest.mark.parametrize(
    ("written", "normalised"),
    [
        ("1,234円の商品を3.14個。", "1234円の商品を3点14個."),
        ("値段は５０％オフ、気温は5℃。", "値段は50パーセントオフ,気温は5度."),
        ("2024/5/1の10:30、14:00", "2024年5月1日の10時30分,14時"),
        ("¥1,000と$20", "1000円と20ドル"),
        ("速度は60km/h、8GB", "速度は60キロメートル毎時,8ギガバイト"),
        ("3～5人、ねぇ〜", "3から5人,ねぇー"),
        ("すごい！！？本当……？", "すごい!本当…"),
        ("ﾊﾟｿｺﾝ", "パソコン"),
        ("「おはよう」と言った😀", " おはよう と言った "),
    ],
)
def test_numbers_units_and_symbols_are_spelt_out(written: str, normalised: str) -> None:
    assert normalise_japanese(written) == normalised


def test_a_quotation_is_a_word_of_its_own() -> None:
    spoken = " ".join(japanese_phones(normalise_japanese("「おはよう」と言った。")))
    assert spoken == "o [ h a y o o t o # i [ cl t a ."


def test_consonants_outside_the_set_are_made_of_two() -> None:
    assert japanese_phones("クァ") == ["k", "w", "a"]
    assert japanese_phones("テュ")[:3] == ["t", "y", "u"]
