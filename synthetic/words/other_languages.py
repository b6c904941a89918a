"""Mandarin and Arabic words of the library. A line: as typed | the text for the synthesiser, where
it differs | the usual spelling | the meaning."""

from typing import Final

MANDARIN: Final = """
nin2 hao3 | | 您好 | hello
xie4 xie5 | | 谢谢 | thank you
zai4 jian4 | | 再见 | goodbye
zhong1 guo2 | | 中国 | China
bei3 jing1 | | 北京 | Beijing
shang4 hai3 | | 上海 | Shanghai
peng2 you3 | | 朋友 | friend
lao3 shi1 | | 老师 | teacher
xue2 xiao4 | | 学校 | school
hui4 yi4 | | 会议 | conference
yu3 yin1 | | 语音 | speech
yu3 yan2 | | 语言 | language
fan4 dian4 | | 饭店 | restaurant
ka1 fei1 | | 咖啡 | coffee
mao1 | | 猫 | cat
gou3 | | 狗 | dog
mai3 | | 买 | to buy
mai4 | | 卖 | to sell
yi1 | | 一 | one
san1 | | 三 | three
tian1 qi4 | | 天气 | weather
yin1 yue4 | | 音乐 | music
di4 tu2 | | 地图 | map
"""
# The synthesiser reads a final ة as t, which is wrong before a pause.
ARABIC: Final = """
/marħaban/ | مَرْحَبًا | مرحبا | hello
/ʃukran/ | شُكْرًا | شكرا | thank you
/salaːm/ | سَلَام | سلام | peace
/naʕam/ | نَعَم | نعم | yes
/laː/ | لَا | لا | no
/kitaːb/ | كِتَاب | كتاب | book
/qalam/ | قَلَم | قلم | pen
/qalb/ | قَلْب | قلب | heart
/kalb/ | كَلْب | كلب | dog
/bajt/ | بَيْت | بيت | house
/baːb/ | بَاب | باب | door
/maːʔ/ | مَاء | ماء | water
/xubz/ | خُبْز | خبز | bread
/qahwa/ | قَهْوَ | قهوة | coffee
/ʃaːj/ | شَاي | شاي | tea
/ʃams/ | شَمْس | شمس | sun
/qamar/ | قَمَر | قمر | moon
/waːħid/ | وَاحِد | واحد | one
/θalaːθa/ | ثَلَاثَ | ثلاثة | three
/sˤawt/ | صَوْت | صوت | voice
/kalima/ | كَلِمَ | كلمة | word
/madiːna/ | مَدِينَ | مدينة | city
/walad/ | وَلَد | ولد | boy
/bint/ | بِنْت | بنت | girl
"""


def lines(table: str) -> list[tuple[str, str, str]]:
    """Read each word of a table: (as typed, text for the synthesiser, gloss)."""
    words = []
    for line in table.strip().splitlines():
        typed, read, written, meaning = (cell.strip() for cell in line.split("|"))
        words.append((typed, read or typed, f"{written}, {meaning}"))
    return words
