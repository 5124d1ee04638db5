"""No translation at all, garbled characters, foreign letters."""

from tests.checks.marked import Cases

CASES: Cases = {
    "empty-translation": (
        [
            ("en-de", "⟦Good morning.⟧", ""),
            ("zh-en", " ⟦你好⟧ ", " \n\t"),
            ("en-ar", "⟦Hello⟧", "\u3000"),
        ],
        [("en-de", "", ""), ("en-de", "Hi", "Na"), ("en-ja", "  ", " ")],
    ),
    "source-copied": (
        [
            (
                "en-de",
                "The weather will be fine tomorrow.",
                "⟦The weather will be fine tomorrow.⟧",
            ),
            ("zh-en", "我们明天去北京参观博物馆", "⟦我们明天去北京参观博物馆⟧"),
            ("ru-de", "Завтра будет хорошая погода.", "⟦Завтра будет хорошая погода.⟧"),
            ("hi-en", "कल मौसम अच्छा रहेगा", "⟦कल मौसम अच्छा रहेगा⟧"),
        ],
        [
            ("en-de", "Spotify Premium", "Spotify Premium"),
            ("en-en_GB", "The colour of the sky is blue.", "The colour of the sky is blue."),
            ("en-de", "https://example.org/a/b", "https://example.org/a/b"),
            ("zh-ja", "北京", "北京"),
            ("en-de", "The weather will be fine.", "Das Wetter wird schön sein."),
        ],
    ),
    "wrong-language": (
        [
            (
                "zh-de",
                "他说天气会很好，我们可以去那里。",
                "⟦He said that the weather would be good and that we could go there with them.⟧",
            ),
            (
                "en-fr",
                "They have been there for a long time because it was raining.",
                "⟦Sie sind schon lange dort gewesen, weil es die ganze Zeit nicht so gut war.⟧",
            ),
            (
                "de-en",
                "Ich weiß nicht, was wir hier noch machen können.",
                "⟦No sé qué más podemos hacer aquí con las cosas que se han quedado en la casa.⟧",
            ),
        ],
        [
            ("en-de", "He said it.", "Er hat gesagt, dass das Wetter gut wird und wir dort hin können."),
            ("en-fi", "He said that it is so.", "Hän sanoi että sää on hyvä ja että voimme mennä sinne."),
            ("en-de", "Lorem ipsum", "Lorem ipsum dolor sit amet consectetur adipiscing elit sed do"),
            (
                "en-sw",
                "The weather is good.",
                "Hali ya hewa ni nzuri sana leo kwa hivyo tunaweza kwenda huko.",
            ),
        ],
    ),
    "refusal": (
        [
            ("en-de", "He went home.", "⟦Als KI-Sprachmodell kann ich das nicht übersetzen.⟧"),
            ("zh-en", "他回家了。", "⟦I'm sorry, but I cannot help with that request.⟧"),
            ("en-ar", "He went home.", "⟦عذرًا، بصفتي مساعدًا لا يمكنني ذلك.⟧"),
            ("en-zh", "He went home.", "⟦抱歉，我无法翻译这段文字。⟧"),
            ("en-ru", "He went home.", "⟦К сожалению, как языковая модель я не отвечаю.⟧"),
        ],
        [
            ("de-en", "Es tut mir leid, dass du gehst.", "I'm sorry that you are leaving."),
            ("en-de", "As an AI, I cannot translate it.", "Als KI kann ich das nicht übersetzen."),
            ("zh-en", "我不能去。", "I cannot go there."),
        ],
    ),
    "chatter": (
        [
            ("de-en", "Er ging heim.", "⟦Here is the translation:⟧ He went home."),
            ("en-de", "He went home.", "⟦Übersetzung:⟧ Er ging heim."),
            ("en-zh", "He went home.", "⟦以下是翻译：⟧他回家了。"),
            ("fr-en", "Il est rentré.", "He went home.\n⟦Note: rentré means to go home.⟧"),
        ],
        [
            ("en-de", "Translation: a hard craft", "Übersetzung: ein schweres Handwerk"),
            ("de-en", "Das ist die Wahrheit: Er ging heim.", "Here is the truth: he went home."),
            ("en-fr", "He left a note.", "Il a laissé une note."),
            ("en-de", "Note: the\nNote: two", "Hinweis: das\nHinweis: zwei"),
        ],
    ),
    "text-from-nothing": (
        [("en-de", "", "⟦Guten Morgen⟧"), ("zh-en", " ", " ⟦Hello⟧ "), ("en-th", "\n", "⟦สวัสดี⟧")],
        [("en-de", "", ""), ("en-de", " ", "-"), ("en-de", "Hi", "Hallo")],
    ),
    "replacement-character": (
        [
            ("en-de", "Size", "Gr⟦\ufffd\ufffd⟧e"),
            ("en-ru", "Hello", "При⟦\ufffd⟧ет"),
            ("zh-en", "中国", "China⟦\ufffd⟧s"),
        ],
        [
            ("en-de", "Size", "Größe"),
            ("en-de", "The sign \ufffd", "Das Zeichen \ufffd"),
            ("en-ja", "Hello", "こんにちは"),
        ],
    ),
    "mojibake": (
        [
            ("en-de", "Size", "Gr⟦Ã¶ÃŸ⟧e"),
            ("en-fr", "summer", "⟦Ã©⟧t⟦Ã©⟧"),
            ("en-ru", "Hello", "⟦ÐŸÑ€Ð¸Ð²ÐµÑ‚⟧"),
            ("en-zh", "you", "⟦ä½\xa0å¥½⟧"),
            ("en-de", "it is", "es ist⟦â€œ⟧so⟦â€\x9d⟧"),
        ],
        [
            ("en-pt", "No", "NÃO"),
            ("en-fr", "summer", "été à Âge"),
            ("en-de", "the bytes Ã¶", "die Bytes Ã¶"),
            ("en-vi", "Hello", "Xin chào các bạn Âm"),
        ],
    ),
    "control-character": (
        [
            ("en-de", "Hello", "Hal⟦\x00⟧lo"),
            ("en-de", "Hello there", "Hallo⟦\x85⟧du"),
            ("en-ja", "Hello", "こん⟦\x1b⟧にちは"),
        ],
        [
            ("en-de", "Hello", "Hallo\tdu\r\n"),
            ("en-de", "Hel\x0clo", "Hal\x0clo"),
            ("en-he", "Hello", "\u200fשלום"),
        ],
    ),
    "html-entity": (
        [
            ("en-de", "Tom & Jerry", "Tom ⟦&amp;⟧ Jerry"),
            ("en-fr", 'a "b"', "un ⟦&quot;⟧b⟦&quot;⟧"),
            ("zh-en", "你的", "It⟦&#39;⟧s yours"),
        ],
        [
            ("en-de", "Tom &amp; Jerry", "Tom &amp; Jerry"),
            ("en-de", "AT&T", "AT&T; und mehr"),
            ("en-ru", "A & B", "А & Б"),
        ],
    ),
    "token-left-over": (
        [
            ("en-de", "a zymurgist", "ein ⟦<unk>⟧"),
            ("en-de", "Hello world", "⟦▁⟧Hallo⟦▁⟧Welt"),
            ("en-de", "newspaper", "Zei⟦@@⟧ tung"),
            ("en-zh", "rare", "罕⟦⁇⟧见"),
        ],
        [
            ("en-de", "write <unk>", "schreibe <unk>"),
            ("en-de", "mail me", "me@@example"),
            ("en-ja", "a", "あ"),
        ],
    ),
    "foreign-script": (
        [
            ("en-de", "He went home.", "Er ging ⟦домой⟧."),
            ("en-zh", "He went home.", "他⟦うち⟧回家了。"),
            ("en-ko", "Thank you.", "감사⟦ありがとう⟧합니다."),
            ("en-ar", "He went home.", "ذهب ⟦בבית⟧ إلى البيت."),
            ("zh-ru", "他回家了。", "Он пошёл ⟦home again⟧."),
        ],
        [
            ("en-de", "the angle α", "der Winkel α"),
            ("en-de", "He said 北京 twice.", "Er sagte zweimal 北京."),
            ("en-ja", "He went home.", "彼は家に帰りました。"),
            ("en-ko", "Chairman Kim", "김 위원장(金)"),
            ("en-sr", "He went home.", "Otišao je kući. Отишао је кући."),
            ("en-qaa", "He went home.", "דומאי домой 家"),
        ],
    ),
    "source-script-left": (
        [
            ("zh-en", "我买了芝麻糊。", "I bought ⟦芝麻糊⟧."),
            ("ru-de", "Он живёт в деревне.", "Er lebt in ⟦деревне⟧."),
            ("en-ja", "He lives in a small village there.", "彼はそこの⟦small village⟧に住んでいる。"),
            ("ja-zh", "彼はうちに帰りました。", "他⟦うちに⟧回家了。"),
        ],
        [
            ("zh-en", "我去北京。", "I am going to Beijing (北京)."),
            ("en-zh", "I like my iPhone 12.", "我喜欢我的iPhone 12。"),
            ("zh-ja", "北京大学", "北京大学"),
            ("en-ru", "He works at Deutsche Bank.", "Он работает в Deutsche Bank."),
        ],
    ),
    "mixed-script-word": (
        [
            ("en-ru", "Hello", "⟦Пpивет⟧, друг"),
            ("en-de", "the port", "der ⟦Hаfen⟧"),
            ("en-uk", "Kyiv", "місто ⟦Kиїв⟧"),
        ],
        [
            ("en-ru", "the IT department", "IT-отдел"),
            ("en-ru", "Hello", "Привет"),
            ("en-de", "the port", "der Hafen"),
            ("ru-uk", "Kиїв", "Kиїв"),
        ],
    ),
}
