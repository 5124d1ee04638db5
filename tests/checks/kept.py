"""What must be translated, and what must stay as it is."""

from tests.checks.marked import Cases

CASES: Cases = {
    "untranslated-run": (
        [
            (
                "en-de",
                "He found it next door to the village.",
                "Er fand es ⟦next door to the village⟧.",
            ),
            ("de-en", "Er hat das Haus gekauft.", "He bought ⟦das Haus gekauft⟧ there."),
            ("de-en", "Er hat das Haus gekauft.", "He bought ⟦das Haus gekauft⟧#2 there."),
            (
                "en-fr",
                "They met with other people there.",
                "Ils ont rencontré ⟦other people there⟧ hier.",
            ),
        ],
        [
            ("en-de", "He likes The Lord of the Rings.", "Er mag The Lord of the Rings."),
            ("en-de", 'It is called "koe knuffelen" there.', "Es heißt dort „koe knuffelen“."),
            ("en-de", "See #nice #green days.", "Siehe #nice #green Tage."),
            ("en-de", "It is in der Mitte.", "Es ist in der Mitte."),
            ("en-de_AT", "I like archive.org pages.", "Ich mag archive.org Seiten."),
            ("en-ru", "He met other people there.", "Он встретил других людей."),
        ],
    ),
    "untranslated-word": (
        [
            ("en-de", "the cat and the dog", "die Katze ⟦and⟧ der Hund"),
            ("en-fr", "with a friend", "⟦with⟧ un ami"),
            ("de-en", "ein Hund und eine Katze", "a dog ⟦und⟧ a cat"),
        ],
        [
            ("en-de", "he was there in time", "was er dort in der Zeit machte"),
            ("en-de", "I read The Wind in the Willows.", "Ich las The Wind in the Willows."),
            ("fr-en", "on a des amis", "on a table"),
            ("zh-en", "和", "and"),
        ],
    ),
    "link-changed": (
        [
            ("en-de", "See https://a.org/x.", "Siehe ⟦https://a.org/y⟧."),
            ("en-ja", "Mail me@a.org now", "⟦me@b.org⟧ へ"),
            ("zh-en", "见www.a.cn。", "See ⟦www.b.cn⟧."),
        ],
        [
            ("en-de", "See https://a.org/x.", "Siehe https://a.org/x!"),
            ("en-ja", "Mail me@a.org now", "me@a.org にメール"),
            ("en-ar", "See https://a.org/x.", "انظر https://a.org/x."),
        ],
    ),
    "link-lost": (
        [
            ("en-de", "See ⟦https://a.org/x⟧.", "Siehe dort."),
            ("en-ru", "Mail ⟦me@a.org⟧ now.", "Пишите сейчас."),
            ("zh-en", "见⟦www.a.cn⟧。", "See there."),
        ],
        [
            ("en-de", "See https://a.org/x.", "Siehe (https://a.org/x)."),
            ("en-de", "at 5 @ home", "um 5 zu Hause"),
            ("en-th", "www.a.org", "www.a.org"),
        ],
    ),
    "link-added": (
        [
            ("en-de", "See there.", "Siehe ⟦https://a.org/x⟧."),
            ("en-ru", "Write to us.", "Пишите на ⟦me@a.org⟧."),
            ("zh-en", "京东", "Go to ⟦www.jd.example⟧ now"),
        ],
        [
            ("en-de", "See there.", "Siehe dort."),
            ("en-de", "https://a.org", "https://a.org https://a.org"),
            ("en-de", "a.org", "a.org"),
        ],
    ),
    "placeholder-changed": (
        [
            ("en-de", "Hello {name}!", "Hallo ⟦{Name}⟧!"),
            ("en-fr", "%d files", "⟦%s⟧ fichiers"),
            ("en-ja", "Hello %(user)s", "こんにちは⟦%(name)s⟧"),
            ("en-de", "[PERSON1] spoke", "⟦[PERSON2]⟧ sprach"),
        ],
        [
            ("en-de", "Hello {name}!", "Hallo {name}!"),
            ("en-de", "%1$s of %2$s", "%2$s von %1$s"),
            ("en-de", "[ORGANIZATION4] spoke", "[ORGANISATION4] sprach"),
            ("en-de", "100% sure", "100% sicher"),
        ],
    ),
    "placeholder-lost": (
        [
            ("en-de", "Hello ⟦{name}⟧!", "Hallo!"),
            ("en-zh", "⟦%d⟧ files", "文件"),
            ("en-ar", "Hi ⟦${user}⟧, welcome", "مرحبا بك"),
            ("en-de", "⟦{{count}}⟧ left", "übrig"),
        ],
        [
            ("en-de", "Hello {name}!", "Hallo {name}!"),
            ("en-de", "50 % of it", "50 % davon"),
            ("en-de", "{a} {a}", "{a}"),
            ("en-hi", "{0} files", "{0} फ़ाइलें"),
        ],
    ),
    "placeholder-added": (
        [
            ("en-de", "Hello!", "Hallo ⟦{name}⟧!"),
            ("en-ko", "files", "파일 ⟦%s⟧"),
            ("zh-en", "你好", "Hello ⟦[PERSON1]⟧"),
        ],
        [
            ("en-de", "Hello!", "Hallo!"),
            ("en-de", "{name}", "{name} {name}"),
            ("en-de", "20 percent d", "20%d"),
        ],
    ),
    "tag-changed": (
        [
            ("en-de", "a <b>cat</b>", "eine ⟦<i>⟧Katze⟦</i>⟧"),
            ("en-fr", 'see <a href="x">it</a>', 'voir ⟦<a href="y">⟧ça</a>'),
            ("en-ja", "a<br/>b", "あ⟦<hr/>⟧い"),
        ],
        [
            ("en-de", "a <b>cat</b>", "eine <b>Katze</b>"),
            ("en-de", "Yes <laughter/>", "Ja <Gelächter/>"),
            ("en-de", "3 < 4 and 5 > 2", "3 < 4 und 5 > 2"),
        ],
    ),
    "tag-lost": (
        [
            ("en-de", "a ⟦<b>⟧cat⟦</b>⟧", "eine Katze"),
            ("en-ru", "a⟦<br/>⟧b", "а б"),
            ("en-th", "⟦<p>⟧Hello", "สวัสดี"),
        ],
        [
            ("en-de", "a <b>cat</b>", "eine <b>Katze</b>"),
            ("en-de", "x <3 you", "x <3 dich"),
            ("en-de", "<b>a</b> <b>b</b>", "<b>a</b> und b"),
        ],
    ),
    "tag-added": (
        [
            ("en-de", "a cat", "eine ⟦<b>⟧Katze⟦</b>⟧"),
            ("zh-en", "京东", "⟦<url>⟧"),
            ("en-he", "Hello", "⟦<p>⟧שלום"),
        ],
        [
            ("en-de", "a cat", "eine Katze"),
            ("en-de", "a <b>cat</b>", "eine <b>Katze</b> <b>da</b>"),
            ("en-fr", "a < b", "a < b > c"),
        ],
    ),
    "handle-changed": (
        [
            ("en-de", "Thanks @anna!", "Danke ⟦@Anne⟧!"),
            ("en-ja", "by @bob_1", "⟦@bob_2⟧ より"),
            ("en-ru", "ask @support", "спросите ⟦@sapport⟧"),
        ],
        [
            ("en-de", "Thanks @anna!", "Danke @anna!"),
            ("en-de", "me@anna.org", "me@anna.org"),
            ("en-zh", "at @bob", "在@bob"),
        ],
    ),
    "handle-lost": (
        [
            ("en-de", "Thanks ⟦@anna⟧!", "Danke!"),
            ("en-ja", "by ⟦@bob_1⟧", "より"),
            ("en-ru", "ask ⟦@support⟧", "спросите"),
        ],
        [
            ("en-de", "Thanks @anna!", "Danke @anna!"),
            ("en-de", "a @ b", "a und b"),
            ("en-de", "@anna @anna", "@anna"),
        ],
    ),
    "handle-added": (
        [
            ("en-de", "Thanks!", "Danke ⟦@anna⟧!"),
            ("zh-en", "打开芳芳的账号", "open ⟦@Fangfang⟧ now"),
            ("en-ko", "by Bob", "⟦@bob⟧ 님"),
        ],
        [
            ("en-de", "Thanks!", "Danke!"),
            ("zh-en", "打开@芳芳", "open @Fangfang"),
            ("en-de", "@anna", "@anna @anna"),
        ],
    ),
    "code-lost": (
        [
            ("en-de", "Take the ⟦A320⟧ home.", "Nimm das Flugzeug."),
            ("en-zh", "The ⟦GPT-4⟧ model is new.", "模型是新的。"),
            ("zh-en", "请看⟦GB18030⟧标准", "See the standard"),
        ],
        [
            ("en-de", "Take the A320 home.", "Nimm den A-320."),
            ("en-zh", "The GPT-4 model is new.", "GPT4模型是新的。"),
            ("en-de", "about 20km", "etwa 20 Kilometer"),
            ("en-de", "the word alone", "das Wort allein"),
        ],
    ),
    "code-changed": (
        [
            ("en-de", "Take the A320 home.", "Nimm den ⟦A230⟧ nach Hause."),
            ("en-zh", "Order the DR-118 part.", "订购⟦DR-181⟧零件。"),
            ("en-ar", "Order the DR-118 part.", "اطلب القطعة ⟦DR-181⟧."),
        ],
        [
            ("en-de", "Take the A320 home.", "Nimm den A320 nach Hause."),
            ("en-de", "Take the A320 home.", "Nimm den B52 nach Hause."),
            ("en-de", "Take the train.", "Nimm den A320."),
        ],
    ),
    "emoji-lost": (
        [
            ("en-de", "Lost seal ⟦🦭⟧ found", "Verirrte Robbe gefunden"),
            ("en-ja", "Thanks ⟦👍🏽⟧", "ありがとう"),
            ("en-ar", "⟦🇩🇪⟧ wins", "تفوز"),
            ("zh-en", "好⟦❤️⟧", "Good"),
        ],
        [
            ("en-de", "Lost seal 🦭 found", "Verirrte Robbe 🦭 gefunden"),
            ("en-de", "Great 👍👍👍", "Toll 👍"),
            ("en-de", "It is 5 °C → warm", "Es sind 5 °C → warm"),
        ],
    ),
    "latin-name-lost": (
        [
            ("zh-en", "他在⟦Amazon⟧工作", "He works there"),
            ("ja-de", "⟦Tokyo⟧ タワー", "der Turm"),
            ("ru-en", "фирма ⟦Siemens⟧", "a company"),
        ],
        [
            ("zh-en", "他在Amazon工作", "He works at amazon"),
            ("en-de", "He works at Amazon", "Er arbeitet dort"),
            ("zh-en", "他用char写", "He writes it"),
            ("ru-uk", "фирма Siemens", "фірма"),
        ],
    ),
}
