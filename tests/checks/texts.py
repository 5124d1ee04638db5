"""Sentences, length, repetition."""

from tests.checks.marked import Cases

LONG = (
    "Wir haben lange darüber gesprochen und am Ende beschlossen, dass alle zusammen nach Hause gehen, "
    "weil es spät war und niemand mehr arbeiten wollte, obwohl noch viel zu tun blieb und der Tag schon "
    "wieder so schnell vergangen war, ohne dass etwas fertig wurde"
)
LONG_ENGLISH = (
    "We talked about it for a long time and decided in the end that all of us go home together because "
    "it was late and nobody wanted to work any more, although much was left to do and the day had again "
    "gone by so fast without anything getting done."
)
NOBODY = (
    "⟦Nobody has lived in it for many years, because the roof is broken and the heirs of the last owner "
    "cannot agree.⟧"
)
HE_CAME = (
    "⟦He came home late in the evening yesterday, after he had met all of his old friends from school at "
    "the station.⟧"
)
THE_COLOUR = (
    "⟦The colour was nice and the light was warm, and all of my neighbours came over to look at it and "
    "asked me where one could buy such a thing.⟧"
)
NIEMAND = (
    "⟦Seit vielen Jahren hat niemand darin gewohnt, weil das Dach kaputt ist und sich die Erben des "
    "letzten Besitzers nicht einigen können.⟧"
)
HIS_WIFE = (
    "⟦His wife and all of his friends from school were waiting for him at the old station with flowers, a "
    "cake and a band that played without a pause.⟧"
)
EL_VENDEDOR = (
    "⟦El vendedor no quiso devolverme el dinero de ninguna manera, aunque la ley lo obliga y aunque se lo "
    "pedí muchas veces por carta y por teléfono.⟧"
)
MUCH_MORE = (
    "⟦The weather is fine today, which is why all of us together with our friends and our neighbours and "
    "their many children should now go out into the park and play with the ball for as long as we can⟧"
)

CASES: Cases = {
    "sentence-lost": (
        [
            (
                "en-de",
                f"The house is old and stands by the river. {NOBODY} The garden is large.",
                "Das Haus ist alt und steht am Fluss. Der Garten ist groß.",
            ),
            (
                "en-ru",
                f"{HE_CAME} Then he slept for ten long hours without a break.",
                "Потом он проспал десять долгих часов без перерыва.",
            ),
            (
                "en-zh",
                f"I bought this lamp about two years ago. {THE_COLOUR} Then it broke and I threw it away.",
                "我大约两年前买了这盏灯。后来它坏了，我就把它扔掉了。",
            ),
        ],
        [
            ("en-de", "The house is old. It stands by the river.", "Das Haus ist alt und steht am Fluss."),
            (
                "zh-en",
                "他昨天很晚才回家，吃了饭，然后睡了十个小时，今天没有上班。",
                "He came home late yesterday. He ate. Then he slept for ten hours. He is not at work today.",
            ),
            ("en-de", "Yes. We can.", "Wir können."),
            ("en-qaa", "The house is old. It stands by the river.", "Ba."),
        ],
    ),
    "sentence-added": (
        [
            (
                "en-de",
                "The house is old and stands by the river. The garden is large and full of trees.",
                f"Das Haus ist alt und steht am Fluss. {NIEMAND} Der Garten ist groß und voller Bäume.",
            ),
            (
                "fr-en",
                "Il est rentré tard hier soir après le travail. Il a dormi dix heures sans interruption.",
                f"He came home late last night. {HIS_WIFE} Then he slept for ten hours without a pause.",
            ),
            (
                "en-es",
                "I bought this lamp two years ago. Then it broke and I threw it away at once.",
                f"Compré esta lámpara hace dos años. Luego se rompió y la tiré enseguida. {EL_VENDEDOR}",
            ),
        ],
        [
            ("en-de", "The house is old and stands by the river.", "Das Haus ist alt. Es steht am Fluss."),
            (
                "zh-en",
                "他昨天很晚才回家，吃了饭，然后睡了十个小时，今天没有上班。",
                "He came home late yesterday. He ate. Then he slept for ten hours. He is not at work today.",
            ),
            ("en-de", "He is here now.", "Er ist da. Ja."),
        ],
    ),
    "too-short": (
        [
            ("en-de", "⟦The weather will be fine tomorrow in all of the country.⟧", "Das Wetter gut."),
            ("zh-en", "⟦他昨天很晚才回家吃了饭然后睡了十个小时今天没有上班⟧", "He came home."),
            ("en-ru", "⟦The weather will be fine tomorrow in all of the country.⟧", "Погода хороша."),
            ("en-ja", "⟦The weather will be fine tomorrow in all of the country.⟧", "天気。"),
        ],
        [
            ("en-de", "The weather will be fine tomorrow.", "Das Wetter wird morgen schön."),
            ("zh-en", "今天的天气很好。", "The weather is fine today."),
            ("en-de", "Yes, of course", "Klar"),
            ("en-qaa", "The weather will be fine tomorrow in all of the country.", "Ba"),
        ],
    ),
    "too-long": (
        [
            (
                "en-de",
                "The weather is fine today.",
                "⟦Das Wetter ist heute schön und wird auch morgen und übermorgen im ganzen Land so sein⟧",
            ),
            (
                "zh-en",
                "今天的天气很好，我们去外面玩吧。",
                MUCH_MORE,
            ),
            (
                "en-ar",
                "The weather is fine today.",
                "⟦الطقس جميل اليوم وسيكون جميلا أيضا غدا وبعد غد في جميع أنحاء البلاد حسب ما قاله الخبراء⟧",
            ),
        ],
        [
            ("en-de", "The weather is fine today.", "Das Wetter ist heute sehr schön."),
            ("zh-en", "赞！", "Great, I like it!"),
            ("en-th", "The weather is fine.", "อากาศดี"),
        ],
    ),
    "breaks-off": (
        [
            ("en-de", LONG_ENGLISH, LONG.removesuffix("wurde") + "⟦wurde⟧"),
            ("en-de", LONG_ENGLISH, LONG.removesuffix("wurde") + "⟦und,⟧"),
            ("fr-de", LONG_ENGLISH, LONG.removesuffix("wurde") + "⟦war⟧"),
        ],
        [
            ("en-de", LONG_ENGLISH, LONG + "."),
            ("en-de", "Good morning to you.", "Guten Morgen"),
            ("en-de", LONG_ENGLISH.removesuffix("."), LONG),
        ],
    ),
    "doubled-word": (
        [
            ("en-de", "He is going home.", "Er ⟦geht geht⟧ nach Hause."),
            ("zh-en", "我看见了猫。", "I saw ⟦the the⟧ cat."),
            ("en-fr", "I see the cat.", "Je vois ⟦le le⟧ chat."),
            ("en-ru", "I saw a cat.", "Я ⟦видел видел⟧ кошку."),
        ],
        [
            ("en-de", "They who sing are old.", "Die, die die Lieder singen, sind alt."),
            ("en-de", "It is very very old.", "Es ist sehr sehr alt."),
            ("en-zh", "Every day is new.", "天天都是新的。"),
            ("en-hi", "He walks slowly.", "वह धीरे धीरे चलता है।"),
            ("en-de", "I play games.", "Ich will Spiele spielen, und du Spiele spiele."),
            ("en-fr", "We see each other.", "Nous nous voyons."),
            ("en-de", "He likes Duran Duran.", "Er mag Duran Duran."),
        ],
    ),
    "repeated-phrase": (
        [
            ("en-de", "He said so.", "Er hat es gesagt und alle wussten es, ⟦und alle wussten es⟧."),
            ("zh-en", "会议很好。", "It was good, ⟦was good, was good⟧ today."),
            (
                "en-ru",
                "He came home and slept.",
                "Он пришёл домой и лёг спать, ⟦пришёл домой и лёг спать⟧.",
            ),
            (
                "en-zh",
                "We should meet again soon.",
                "我们应该很快再见面⟦我们应该很快再见面⟧。",
            ),
        ],
        [
            (
                "en-de",
                "He said so and I said so and he said so.",
                "Er sagte es und ich sagte es und er sagte es.",
            ),
            ("en-de", "No, no, no, no, no!", "Nein, nein, nein, nein, nein!"),
            (
                "zh-en",
                "代码生成选项 (Code Generation Option)",
                "Code Generation Option (Code Generation Option)",
            ),
            ("en-zh", "Ha ha ha ha ha ha", "哈哈哈哈哈哈"),
            ("en-de", "The old man and the old woman", "Der alte Mann und die alte Frau"),
        ],
    ),
    "endless-repetition": (
        [
            ("en-de", "It smells strong.", "Es riecht stark, ⟦" + ", ".join(["stark"] * 25) + "⟧, ja."),
            ("zh-en", "你好。", "New York Times ⟦" + " ".join(["New York Times"] * 8) + "⟧."),
            ("en-zh", "Good.", "好" + "⟦" + "好" * 30 + "⟧。"),
        ],
        [
            ("en-de", "No " * 30, "Nein " * 30),
            ("en-de", "It smells strong.", "Es riecht stark, stark, stark."),
            ("en-de", "It is good.", "Es ist gut."),
        ],
    ),
}
