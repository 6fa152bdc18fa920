"""Write notes.jsonl: a small corpus in Chinese, Japanese and English, with near-duplicates of the kinds that corpora have."""

import json
from pathlib import Path

NOTES = {
    "en-ferry": """The night ferry to the islands leaves at ten past nine from the old customs pier. Tickets are sold on board, cash only,
and dogs travel free if they sleep under the bench. In winter the crossing takes two hours; in a north wind it may take three, and the
captain will say so before casting off. Bring a blanket, because the heating on the upper deck has not worked since spring.""",
    "en-ferry-copy": """The night ferry to the islands leaves at ten past nine from the old customs pier. Tickets are sold on board, cash only,
and dogs travel free if they sleep under the bench. In winter the crossing takes two hours; in a north wind it may take three, and the
captain will say so before casting off. Bring a blanket, because the heating on the upper deck has not worked since autumn.""",
    "en-ferry-shouting": """THE NIGHT FERRY to the islands leaves at ten past nine from the old customs pier! Tickets are sold on board (cash only),
and dogs travel free if they sleep under the bench. In winter the crossing takes two hours; in a north wind it may take three - and the
captain will say so before casting off. Bring a blanket, because the heating on the upper deck has not worked since spring...""",
    "en-bread": """To bake the plain loaf, mix five hundred grams of flour with ten grams of salt and stir in three hundred and fifty grams of
warm water. Let the dough rest for half an hour, fold it four times, and leave it in a cool room overnight. In the morning shape it, wait
until it has doubled, and bake it in a covered pot for forty minutes, the last ten without the lid.""",
    "en-clock": """The station clock was built to run for eight days on one winding. Its pendulum is a rod of seasoned pine, for pine hardly
grows with heat, and its weights hang in the cellar of the ticket office. Twice a year a clockmaker climbs up with a lamp, cleans the pivots
with a goose feather, and signs his name in chalk inside the case.""",
    "zh-bridge": """河上的老石桥建于明代，全长八十六米，共有七个拱。桥面用青石板铺成，石板上留着深深的车辙。每年端午节，镇上的人都在桥下赛龙舟，
孩子们坐在桥栏上看热闹。去年夏天的洪水冲坏了第三个桥拱，工匠们按照老办法修了四个月，没有用一根钢筋。""",
    "zh-bridge-copy": """河上的老石桥建于明代，全长八十六米，共有七个拱。桥面用青石板铺成，石板上留着深深的车辙。每年端午节，镇上的人都在桥下赛龙舟，
孩子们坐在桥栏上看热闹。去年夏天的洪水冲坏了第三个桥拱，工匠们按照老办法修了五个月，没有用一根钢筋。""",
    "zh-bridge-fullwidth": """河上的老石桥建于明代,全长八十六米,共有七个拱。桥面用青石板铺成,石板上留着深深的车辙。每年端午节,镇上的人都在桥下赛龙舟,
孩子们坐在桥栏上看热闹。 去年夏天的洪水冲坏了第三个桥拱,工匠们按照老办法修了四个月,没有用一根钢筋。""",
    "zh-tea": """春茶要在清明前采，只取一芽一叶。采下的鲜叶先摊在竹匾里晾半天，等水汽散去，再下锅炒。锅温不能太高，手要不停地翻，炒到叶子发软，
香气出来，就起锅揉捻。老茶农说，炒茶没有秘诀，只有一双不怕烫的手和一颗不着急的心。""",
    "zh-library": """图书馆每周二闭馆，其余时间早上九点开门，晚上八点关门。读者凭证可以借书十册，借期三十天，可续借一次。二楼的阅览室收藏旧报纸，
需要提前一天预约。请不要在书上写字，也不要把水杯带到书架旁边。""",
    "ja-cat": """駅前の本屋には、白い猫が一匹住んでいる。名前はまだ誰も知らない。朝は新刊の棚の上で眠り、昼になると店の入り口に座って、客の顔をじっと見る。
店長によれば、猫が三回鳴いた本は必ず売れるという。先月は古い地図帳の前で鳴き、その日のうちに売れてしまった。""",
    "ja-cat-copy": """駅前の本屋には、白い猫が一匹住んでいる。名前はまだ誰も知らない。朝は新刊の棚の上で眠り、昼になると店の入り口に座って、客の顔をじっと見る。
店長によれば、猫が三回鳴いた本は必ず売れるという。先週は古い地図帳の前で鳴き、その日のうちに売れてしまった。""",
    "ja-cat-halfwidth": """駅前の本屋には､白い猫が一匹住んでいる｡名前はまだ誰も知らない｡朝は新刊の棚の上で眠り､昼になると店の入り口に座って､客の顔をじっと見る｡
店長によれば､猫が三回鳴いた本は必ず売れるという｡先月は古い地図帳の前で鳴き､その日のうちに売れてしまった｡""",
    "ja-rain": """梅雨に入ると、祖母は縁側に座って雨の音を聞いていた。屋根を打つ音で、その日の天気がわかると言う。軽い音なら昼過ぎに上がり、重い音なら夜まで続く。
わたしには同じに聞こえたが、祖母の予報は天気予報よりもよく当たった。""",
    "ja-bus": """山の上の温泉へ行くバスは、一日に三本しかない。最初の便は朝七時に町を出て、細い道をゆっくり登っていく。途中の停留所では、運転手が野菜を受け取り、
上の宿まで届けることもある。乗客はみな顔なじみで、降りるときには運転手に一言声をかける。""",
    "en-empty": "",
    "en-short": "See page 2.",
    "en-short-too": "see  page 2.",
}

if __name__ == "__main__":
    lines = [
        json.dumps({"id": name, "text": " ".join(text.split("\n"))}, ensure_ascii=False) for name, text in NOTES.items()
    ]
    Path(__file__).with_name("notes.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
