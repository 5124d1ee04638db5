"""Brackets, quotation marks, punctuation, white space, capitals."""

from tests.checks.marked import Cases

CASES: Cases = {
    "unpaired-bracket": (
        [
            ("en-de", "the cat (a red one)", "die Katze ⟦(⟧eine rote"),
            ("zh-en", "汶川（2008年）", "Wenchuan 2008⟦)⟧ again"),
            ("en-zh", "the book (a new one)", "书⟦（⟧新的"),
            ("en-ja", "He said it [twice].", "彼は二回⟦]⟧言った。"),
        ],
        [
            ("en-de", "the cat (a red one)", "die Katze (eine rote)"),
            ("en-de", "I am glad!", "Ich bin froh :)"),
            ("en-de", "a) first b) second", "a) erstens b) zweitens"),
            ("en-de", "the cat (a red one", "die Katze (eine rote"),
            ("zh-en", "书（新的)", "the book (new)"),
            ("en-ar", "the cat (red)", "القطة (حمراء)"),
        ],
    ),
    "unpaired-quote": (
        [
            ("en-de", 'He said "yes" to me.', "Er sagte ⟦„⟧ja zu mir."),
            ("en-de", 'He said "yes" to me.', 'Er sagte ja⟦"⟧ zu mir.'),
            ("zh-en", "他说“好”。", 'He said ⟦"⟧good.'),
            ("en-ja", 'He said "yes".', "彼は⟦「⟧はいと言った。"),
            ("en-fr", 'He said "yes".', "Il a dit ⟦«⟧ oui."),
        ],
        [
            ("en-de", 'He said "yes" to me.', "Er sagte „ja“ zu mir."),
            ("en-de", 'a 15" screen', 'ein 15" Bildschirm'),
            ("en-de", 'A 27-inch "Pro" screen.', 'Ein 27" großer „Pro“-Bildschirm.'),
            ("en-de", 'It ends here".', 'Es endet hier".'),
            ("en-he", "the UN", 'האו״ם וצה"ל של ישראל וארה"ב'),
            ("en-de", "He said 'yes'.", "Er sagte 'ja'."),
        ],
    ),
    "quote-style": (
        [
            ("en-de", 'He said "yes" to me.', 'Er sagte ⟦"⟧ja" zu mir.'),
            ("en-de", 'He said "yes" to me.', "Er sagte ⟦“⟧ja” zu mir."),
            ("en-fr", 'He said "yes" to me.', 'Il m\'a dit ⟦"⟧oui".'),
            ("en-ru", 'He said "yes" to me.', 'Он сказал мне ⟦"⟧да".'),
            ("en-ja", "the word", 'それは ⟦"⟧言葉"'),
        ],
        [
            ("en-de", 'He said "yes" to me.', "Er sagte „ja“ zu mir."),
            ("en-fr", 'He said "yes" to me.', "Il m'a dit « oui »."),
            ("de-en", "Er sagte „ja“.", 'He said "yes".'),
            ("en-zh", 'He said "yes".', "他说“是”。"),
            ("en-de", 'a 15" screen', 'ein 15" Bildschirm'),
        ],
    ),
    "half-width-mark": (
        [
            ("en-zh", "Yes, I see.", "好⟦,⟧我知道了⟦.⟧"),
            ("en-ja", "Is that so?", "そうですか⟦?⟧"),
            ("en-zh", "Great!", "好⟦!⟧"),
        ],
        [
            ("en-zh", "Yes, I see.", "好，我知道了。"),
            ("en-ko", "Yes, I see.", "네, 알겠습니다."),
            ("en-zh", "It has 12,345 pages.", "它有12,345页。"),
            ("en-ja", "version 2.0", "バージョン2.0"),
        ],
    ),
    "full-width-mark": (
        [
            ("zh-en", "好，我知道了。", "Yes⟦，⟧ I see⟦。⟧"),
            ("ja-de", "「はい」", "⟦「⟧Ja⟦」⟧"),
            ("zh-ru", "好！", "Да⟦！⟧"),
        ],
        [
            ("zh-en", "好，我知道了。", "Yes, I see."),
            ("en-zh", "Yes, I see.", "好，我知道了。"),
            ("en-ko", "a · b", "네、그래요"),
        ],
    ),
    "latin-mark": (
        [
            ("en-ar", "Yes, I see.", "نعم⟦,⟧ فهمت"),
            ("en-ar", "How are you?", "كيف حالك⟦?⟧"),
            ("en-fa", "Yes; good", "بله⟦;⟧ خوب"),
        ],
        [
            ("en-ar", "Yes, I see.", "نعم، فهمت"),
            ("en-ar", "How are you?", "كيف حالك؟"),
            ("en-he", "How are you?", "מה שלומך?"),
        ],
    ),
    "french-space": (
        [
            ("en-fr", "Are you there?", "Tu es là⟦?⟧"),
            ("en-fr", "He said: yes!", "Il a dit⟦:⟧ oui⟦!⟧"),
            ("en-fr", '"yes"', "⟦«⟧oui⟦»⟧"),
        ],
        [
            ("en-fr", "Are you there?", "Tu es là\u202f?"),
            ("en-fr", "He said: yes!", "Il a dit : oui !"),
            ("en-de", "Are you there?", "Bist du da?"),
            ("en-fr", "See https://a.org/?b now", "Voir https://a.org/?b ici"),
        ],
    ),
    "space-before-mark": (
        [
            ("en-de", "Yes, I see.", "Ja⟦ ,⟧ ich sehe⟦ .⟧"),
            ("zh-en", "真的吗？", "Really⟦ ?⟧"),
            ("en-ru", "the cat (red)", "кошка (⟦ ⟧красная⟦ ⟧)"),
        ],
        [
            ("en-de", "Yes, I see.", "Ja, ich sehe."),
            ("en-fr", "Really?", "Vraiment ?"),
            ("en-de", "well ...", "nun ..."),
            ("en-de", "Yes , I see .", "Ja , ich sehe ."),
        ],
    ),
    "doubled-mark": (
        [
            ("en-de", "Yes, I see.", "Ja⟦,,⟧ ich sehe⟦..⟧"),
            ("en-ru", "Yes, I see.", "Да, вижу⟦,.⟧"),
            ("zh-en", "好的。", "All right⟦..⟧"),
        ],
        [
            ("en-de", "Yes ...", "Ja ..."),
            ("en-de", "etc., and so on", "usw., und so weiter"),
            ("en-de", "Yes,, I see", "Ja,, ich sehe"),
            ("en-de", "What?!", "Was?!"),
        ],
    ),
    "no-space-after-mark": (
        [
            ("en-de", "Yes sure, I see.", "Ja klar⟦,⟧ich sehe das."),
            ("zh-en", "认栽！但是我说。", "Admit it⟦!⟧But I say so."),
            ("en-ru", "He came. We left.", "Он пришёл⟦.⟧Мы ушли."),
        ],
        [
            ("en-de", "Yes, I see.", "Ja, ich sehe."),
            ("en-de", "See www.example.org there", "Siehe www.example.org dort"),
            ("en-de", "12,5 and 3.5", "12,5 und 3.5"),
            ("en-de", "z.B. this", "z.B. das"),
        ],
    ),
    "split-number": (
        [
            ("zh-en", "17000人", "⟦17, 000⟧ people"),
            ("zh-en", "占4.2%", "It is ⟦4. 2⟧ percent"),
            ("en-de", "12,345 pages", "⟦12, 345⟧ Seiten"),
        ],
        [
            ("zh-en", "17000人", "17,000 people"),
            ("en-de", "in 1, 2 or 3", "in 1, 2 oder 3"),
            ("en-de", "on 3. 12 people", "am 3. 12 Leute"),
            ("en-de", "in 2019, 300 people", "2019, 300 Leute"),
        ],
    ),
    "final-mark-lost": (
        [
            ("en-de", "The cat is red.", "Die Katze ist ⟦rot⟧"),
            ("zh-en", "猫是红色的。", "The cat is ⟦red,⟧"),
            ("en-ru", "Is the cat red?", "Кошка ⟦красная⟧"),
            ("en-hi", "The cat is red.", "बिल्ली लाल ⟦है⟧"),
        ],
        [
            ("en-de", "The cat is red.", "Die Katze ist rot."),
            ("en-de", "The cat", "Die Katze"),
            ("en-th", "The cat is red.", "แมวสีแดง"),
            ("en-hi", "The cat is red.", "बिल्ली लाल है।"),
            ("en-ja", "The cat is red.", "猫は赤い。」"),
        ],
    ),
    "final-mark-added": (
        [
            ("en-de", "The red cat", "Die rote Katze⟦.⟧"),
            ("zh-en", "红猫", "The red cat⟦.⟧"),
            ("en-ja", "The red cat", "赤い猫⟦。⟧"),
        ],
        [
            ("en-de", "The red cat.", "Die rote Katze."),
            ("en-de", "Apple and others", "Apple Inc."),
            ("en-de", "The red cat", "Die rote Katze"),
            ("en-ar", "The red cat!", "القطة الحمراء!"),
        ],
    ),
    "question-lost": (
        [
            ("en-de", "Is the cat red?", "Die Katze ist rot⟦.⟧"),
            ("zh-en", "猫是红色的吗？", "The cat is red⟦!⟧"),
            ("ar-en", "هل القطة حمراء؟", "The cat is red⟦.⟧"),
        ],
        [
            ("en-de", "Is the cat red?", "Ist die Katze rot?"),
            ("en-ar", "Is the cat red?", "هل القطة حمراء؟"),
            ("en-zh", "Is the cat red?", "猫是红色的吗？"),
        ],
    ),
    "question-added": (
        [
            ("en-de", "The cat is red.", "Ist die Katze rot⟦?⟧"),
            ("en-zh", "The cat is red.", "猫是红色的吗⟦？⟧"),
            ("en-ar", "The cat is red.", "هل القطة حمراء⟦؟⟧"),
        ],
        [
            ("en-de", "The cat is red.", "Die Katze ist rot."),
            ("en-de", "Is the cat red?", "Ist die Katze rot?"),
            ("en-de", "Is the cat red", "Ist die Katze rot?"),
        ],
    ),
    "inverted-mark-lost": (
        [
            ("en-es", "Are you there?", "Estás ahí⟦?⟧"),
            ("en-es", "Good!", "Bueno⟦!⟧"),
            ("zh-es", "你在吗？", "Estás⟦?⟧ Sí."),
        ],
        [
            ("en-es", "Are you there?", "¿Estás ahí?"),
            ("en-es", "Good!", "¡Bueno!"),
            ("en-pt", "Are you there?", "Você está aí?"),
        ],
    ),
    "space-at-start": (
        [
            ("en-de", "Good morning", "⟦ Guten⟧ Morgen"),
            ("en-zh", "Hello", "⟦\u3000你好⟧"),
            ("en-ar", "Hello", "⟦\nمرحبا⟧"),
        ],
        [
            ("en-de", "Good morning", "Guten Morgen"),
            ("en-de", " Good morning", " Guten Morgen"),
            ("en-de", "a", "\u200ba"),
        ],
    ),
    "space-at-end": (
        [
            ("en-de", "Good morning", "Guten ⟦Morgen ⟧"),
            ("en-zh", "Hello", "⟦你好\u3000⟧"),
            ("en-ar", "Hello there", "مرحبا ⟦بك\n⟧"),
        ],
        [
            ("en-de", "Good morning", "Guten Morgen"),
            ("en-de", "Good morning ", "Guten Morgen "),
            ("en-de", "a\r\n", "a\n"),
        ],
    ),
    "doubled-space": (
        [
            ("en-de", "Good morning", "Guten⟦  ⟧Morgen"),
            ("en-ru", "Good morning to you", "Доброе⟦   ⟧утро вам"),
            ("zh-en", "早上好", "Good⟦ \u00a0⟧morning"),
        ],
        [
            ("en-de", "Good morning", "Guten Morgen"),
            ("en-de", "Good  morning", "Guten  Morgen"),
            ("en-de", "Good morning", "Guten Morgen  "),
        ],
    ),
    "small-letter": (
        [
            ("en-de", "The cat is red.", "⟦die⟧ Katze ist rot."),
            ("zh-en", "猫很红。它在睡觉。", "The cat is red. ⟦it⟧ sleeps."),
            ("zh-en", "我觉得我很好。", "Well, ⟦i⟧ am fine."),
            ("en-ru", "The cat is red.", "⟦кошка⟧ красная."),
        ],
        [
            ("en-de", "The cat is red.", "Die Katze ist rot."),
            ("en-de", "the cat", "die Katze"),
            ("en-de", "The cat etc. is red.", "Die Katze usw. ist rot."),
            ("en-de", "My iPhone is red.", "iPhone von mir ist rot."),
            ("en-ka", "The cat is red.", "კატა წითელია."),
            ("en-zh", "The cat is red.", "猫是红色的。"),
        ],
    ),
}
