"""Numbers, dates, times, telephone numbers, currencies."""

from tests.checks.marked import Cases

CASES: Cases = {
    "number-changed": (
        [
            ("en-de", "It has 345 pages.", "Es hat ⟦354⟧ Seiten."),
            ("en-de", "It cost 5 million.", "Es kostete ⟦5 Milliarden⟧."),
            ("zh-en", "他有3万本书。", "He has ⟦3,000⟧ books."),
            ("en-zh", "There are 120 rooms.", "有⟦102⟧个房间。"),
            ("en-hi", "It has 345 pages.", "इसमें ⟦३५४⟧ पृष्ठ हैं।"),
            ("en-ar", "It has 345 pages.", "فيه ⟦٣٥٤⟧ صفحة."),
            ("ru-en", "Там 17 домов.", "There are ⟦71⟧ houses."),
            ("en-de", "They sold 10 cars.", "Sie verkauften ⟦20⟧ Autos."),
            ("zh-en", "预计达1.2万吨", "It will reach ⟦1.2⟧ tons"),
            ("en-de", "It was 24 in all, or 412.50 more.", "Es waren alle, oder ⟦421,50⟧ mehr."),
        ],
        [
            ("en-de", "It cost 1,234.50.", "Es kostete 1.234,50."),
            ("en-fr", "12,500 people", "12 500 personnes"),
            ("en-hi", "It has 345 pages.", "इसमें ३४५ पृष्ठ हैं।"),
            ("en-ar", "It has 345 pages.", "فيه ٣٤٥ صفحة."),
            ("en-th", "It has 345 pages.", "มี ๓๔๕ หน้า"),
            ("zh-en", "约1200万至1400万人", "about 12 to 14 million people"),
            ("zh-en", "3亿5000万", "350 million"),
            ("zh-en", "十二月有31天", "December has 31 days"),
            ("en-ja", "12,000 people", "1万2000人"),
            ("en-hi", "1,500,000 people", "15 लाख लोग"),
            ("en-de", "in the 1990s", "in den 90ern"),
            ("en-de", "It weighs 130 pounds.", "Es wiegt 59 Kilo."),
            ("en-ko", "25,000 people", "2만 5천 명"),
        ],
    ),
    "number-lost": (
        [
            ("en-de", "All ⟦345⟧ pages are new.", "Alle Seiten sind neu."),
            ("zh-en", "共⟦237⟧人参加。", "Many people took part."),
            ("en-ru", "He was born in ⟦1987⟧.", "Он родился давно."),
            ("en-he", "It has ⟦345⟧ pages.", "יש בו עמודים."),
            ("de-ja", "Es sind ⟦48⟧ Häuser.", "家があります。"),
        ],
        [
            ("en-de", "All 5 pages are new.", "Alle Seiten sind neu."),
            ("en-de", "They have 25 dogs.", "Sie haben fünfundzwanzig Hunde."),
            ("en-zh", "There were 35 of them.", "他们有三十五个人。"),
            ("zh-en", "35个人", "thirty-five people"),
            ("en-fr", "over 100 years", "plus de cent ans"),
            ("en-de", "the 3rd and the 4th", "der dritte und der vierte"),
            ("en-ru", "the 20th century", "XX век"),
            ("zh-en", "碘-131", "iodine-131"),
            ("en-zh", "250 books and 250 more", "250本书，又一批"),
        ],
    ),
    "number-added": (
        [
            ("en-de", "Many pages are new.", "Alle ⟦345⟧ Seiten sind neu."),
            ("de-en", "Viele Häuser stehen leer.", "Some ⟦48⟧ houses are empty."),
            ("fr-ru", "Il est né loin d'ici.", "Он родился в ⟦1987⟧ году далеко."),
        ],
        [
            ("en-de", "twenty-five dogs", "25 Hunde"),
            ("de-en", "zweihundert Jahre", "200 years"),
            ("zh-en", "三千五百人", "3,500 people"),
            ("en-de", "a dozen eggs", "12 Eier"),
            ("en-de", "half of them", "50 % von ihnen"),
            ("th-en", "หลายหน้า", "345 pages"),
            ("ru-en", "двадцать человек", "20 people"),
        ],
    ),
    "number-format": (
        [
            ("en-de", "It has 12,345 pages.", "Es hat ⟦12,345⟧ Seiten."),
            ("en-de", "It cost 1,234.50.", "Es kostete ⟦1,234.50⟧."),
            ("de-en", "Es hat 12.345.678 Seiten.", "It has ⟦12.345.678⟧ pages."),
            ("en-ru", "It has 12,345 pages.", "Там ⟦12,345⟧ страниц."),
        ],
        [
            ("en-de", "It has 12,345 pages.", "Es hat 12.345 Seiten."),
            ("en-fr", "It has 12,345 pages.", "Il a 12 345 pages."),
            ("en-zh", "It has 12,345 pages.", "它有12,345页。"),
            ("en-de", "version 3.5", "Version 3.5"),
        ],
    ),
    "date-changed": (
        [
            ("en-de", "on May 3, 2023", "am ⟦4. Mai 2023⟧"),
            ("zh-en", "2023年5月3日", "on ⟦June 3, 2023⟧"),
            ("de-fr", "am 3. Mai 1999", "le ⟦3 juin 1999⟧"),
            ("en-ru", "It is 12 March 2001.", "Сегодня ⟦12 апреля 2001⟧."),
            ("en-de", "Due 2023-05-03 at last.", "Fällig am ⟦03.06.2023⟧."),
            ("en-ar", "on 12 March 2001", "في ⟦12 أبريل 2001⟧"),
            ("en-de", "Due 2023-05-31 at last.", "Fällig am ⟦31.07.2023⟧."),
            ("en-de", "Due 2023-12-13 at last.", "Fällig am ⟦13.11.2023⟧."),
        ],
        [
            ("en-de", "on May 3, 2023", "am 3. Mai 2023"),
            ("en-de", "5/3/2023", "3.5.2023"),
            ("zh-en", "5月3日", "May 3"),
            ("en-ja", "May 3, 2023", "2023年5月3日"),
            ("en-de", "May 10 to 26", "vom 10. bis 26. Mai"),
            ("en-es", "3 May 2023", "el 3 de mayo de 2023"),
            ("en-he", "on 12 March 2001", "ב-12 במרץ 2001"),
        ],
    ),
    "weekday-changed": (
        [
            ("en-de", "See you on Friday.", "Bis ⟦Montag⟧."),
            ("zh-en", "星期三见", "See you on ⟦Thursday⟧"),
            ("de-ru", "Bis Freitag!", "До ⟦понедельника⟧!"),
            ("en-ja", "on Monday", "⟦火曜日⟧に"),
        ],
        [
            ("en-de", "See you on Friday.", "Bis Freitag."),
            ("zh-en", "星期三见", "See you on Wednesday"),
            ("en-de", "Fridays", "freitags"),
            ("en-fr", "See you tomorrow, Monday.", "À demain."),
        ],
    ),
    "date-format": (
        [
            ("en-de", "on 5/3/2023", "am ⟦5/3/2023⟧"),
            ("en-de", "May 3, 2023", "⟦Mai 3, 2023⟧"),
            ("en-ru", "on 05/13/23", "⟦05/13/23⟧"),
        ],
        [
            ("en-de", "on 5/3/2023", "am 3.5.2023"),
            ("en-de", "May 3, 2023", "3. Mai 2023"),
            ("de-en", "am 3. Mai 2023", "May 3, 2023"),
            ("en-fr", "on 3/5/2023", "le 3/5/2023"),
        ],
    ),
    "english-ordinal": (
        [
            ("en-de", "on the 5th", "am ⟦5th⟧"),
            ("en-fr", "his 1st car", "sa ⟦1st⟧ voiture"),
            ("en-ru", "the 2nd house", "⟦2nd⟧ дом"),
        ],
        [
            ("en-de", "on the 5th", "am 5."),
            ("de-en", "am 5.", "on the 5th"),
            ("en-fr", "his 1st car", "sa 1re voiture"),
        ],
    ),
    "time-changed": (
        [
            ("en-de", "at 3:30 p.m.", "um ⟦16:30 Uhr⟧"),
            ("zh-en", "下午3点", "at ⟦5 p.m.⟧"),
            ("de-en", "um 15 Uhr", "at ⟦2 p.m.⟧"),
            ("en-ko", "at 9:15 am", "⟦10시 15분⟧에"),
        ],
        [
            ("en-de", "at 3:30 p.m.", "um 15:30 Uhr"),
            ("zh-en", "下午3点半", "at 3:30 p.m."),
            ("en-de", "at 9", "um 9 Uhr"),
            ("en-fr", "at 3:30 p.m.", "à 15h30"),
            ("en-ru", "at 8 pm", "в 20:00"),
            ("en-de", "They won 2:1.", "Sie gewannen 2:1."),
        ],
    ),
    "time-format": (
        [
            ("en-de", "at 3:30 p.m.", "um ⟦3:30 p.m.⟧"),
            ("en-fr", "at 8 am", "à ⟦8 am⟧"),
            ("en-ru", "at 8 PM", "в ⟦8 PM⟧"),
        ],
        [
            ("en-de", "at 3:30 p.m.", "um 15:30 Uhr"),
            ("de-en", "um 15:30 Uhr", "at 3:30 p.m."),
            ("en-de", "at 8", "um 8 am Abend"),
        ],
    ),
    "telephone-changed": (
        [
            ("en-de", "Call +49 30 1234567.", "Rufen Sie ⟦+49 30 1234568⟧ an."),
            ("en-ja", "Call (555) 123-4567.", "⟦(555) 123-4576⟧に電話してください。"),
            ("zh-en", "请致电010-60910566。", "Please call ⟦010-60910567⟧."),
        ],
        [
            ("en-de", "Call +49 30 1234567.", "Rufen Sie 030 1234567 an."),
            ("en-de", "Call (555) 123-4567.", "Rufen Sie 555-123-4567 an."),
            ("zh-en", "请致电010-60910566。", "Please call 010-60910566."),
        ],
    ),
    "telephone-format": (
        [
            ("en-de", "Call +49 30 1234567.", "Rufen Sie ⟦49301234567⟧ an."),
            ("en-fr", "Call (555) 123-4567.", "Appelez le ⟦5551234567⟧."),
            ("en-ru", "Call 555-123-4567.", "Звоните ⟦5551234567⟧."),
        ],
        [
            ("en-de", "Call +49 30 1234567.", "Rufen Sie +49 30 1234567 an."),
            ("en-de", "Call +49 30 1234567.", "Rufen Sie an."),
            ("en-de", "It is 1234567.", "Es ist 1234567."),
        ],
    ),
    "currency-changed": (
        [
            ("en-de", "It cost $45,000.", "Es kostete 45.000 ⟦€⟧."),
            ("zh-en", "价格是500美元。", "The price is 500 ⟦euros⟧."),
            ("en-ru", "It cost 30 pounds.", "Это стоило 30 ⟦долларов⟧."),
            ("en-ja", "It cost 30 euros.", "30⟦ドル⟧でした。"),
            ("en-hi", "It cost 30 dollars.", "इसकी कीमत 30 ⟦रुपये⟧ थी।"),
        ],
        [
            ("en-de", "It cost $45,000.", "Es kostete 45.000 Dollar."),
            ("zh-en", "500新元", "S$500"),
            ("zh-en", "500元", "500 yuan"),
            ("en-de", "It weighs 30 pounds.", "Es wiegt 30 Pfund."),
            ("en-ar", "It cost 30 dollars.", "كلف 30 دولارا."),
            ("en-ko", "30 won", "30원"),
            ("zh-en", "一块钱都没有", "not a single dollar"),
        ],
    ),
    "currency-format": (
        [
            ("en-de", "It cost $45,000.", "Es kostete ⟦$45.000⟧."),
            ("en-fr", "It cost €5.", "Cela coûte ⟦€5⟧."),
            ("de-en", "Es kostet 5 €.", "It costs ⟦5 €⟧."),
            ("en-ru", "It cost £30.", "Это стоило ⟦£ 30⟧."),
        ],
        [
            ("en-de", "It cost $45,000.", "Es kostete 45.000 $."),
            ("de-en", "Es kostet 5 €.", "It costs €5."),
            ("en-zh", "It cost $5.", "它花了$5。"),
            ("de-en", "5 €", "between 5 and €10"),
        ],
    ),
}
