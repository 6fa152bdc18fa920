"""The review desk in Chromium: pairs are judged by keys and buttons, and all judgements of the store are saved as `neardup store judgements` writes them."""

import itertools
import json
import random
import shlex
import subprocess
import sys

import pytest

import neardup as nd
from service.opened_page import FERRY, NEAR, filled_store, opened, opened_context
from service.serving import TOKEN, listening, texts_of, tokens_in

KEYS = {"s": True, "d": False}
READY = ".desk:not([aria-busy]) .sides"


def reviewed_store(path):
    """A store with three duplicates, and three kept documents that are like another one, but not enough."""
    path = filled_store(path)
    with nd.Store(path) as store:
        for number, places in enumerate(((3, 10, 17), (5, 12, 24), (7, 19, 27))):
            words = FERRY.split()
            for place in places:
                words[place] = f"other{number}"
            assert store.check_and_add(f"draft {number}", " ".join(words)).is_new
    return path


@pytest.fixture
def path(request, tmp_path):
    if getattr(request, "param", "folder") == "postgresql":
        return reviewed_store(request.getfixturevalue("place"))
    return reviewed_store(tmp_path / "s")


def judged(store):
    """Judgements without the times."""
    return [(each.left.text, each.right.text, each.same) for each in store.judgements()]


def saved(page, name, folder):
    with page.expect_download() as download:
        page.click(f"text=Save {name}")
    download.value.save_as(folder / name)
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("path", ["folder", "postgresql"], indirect=True)
def test_pairs_are_judged_by_keys_and_evaluate_reads_all_judgements(browser, path, tmp_path):
    with nd.Store(path) as store:
        earlier = store.judge(store.review(limit=1)[0], same=True)  # by somebody else
        expected, pairs = judged(store), [(each.left.text, each.right.text) for each in store.review(limit=100)]
    assert (earlier, len(pairs)) == (1, 6)
    with listening({"default": path}) as url, opened(browser, url, "review", accept_downloads=True) as page:
        page.wait_for_selector(READY)
        place, verdicts = 0, {}
        for key in ("s", "d", "b", "s", "Space", "d", "s", "s"):
            page.keyboard.press(key)
            place += -1 if key == "b" else 1
            if key in KEYS:
                verdicts[place - 1] = KEYS[key]
            page.wait_for_selector(f"#tally:has-text('in this visit: {len(verdicts)};')")
            page.wait_for_selector(".desk:not([aria-busy])")
        assert page.inner_text("#tally") == "Judged in this visit: 5; 4 same, 1 different"
        page.wait_for_selector("text=There are no more pairs.")
        files = {name: saved(page, name, tmp_path) for name in ("pairs.jsonl", "documents.jsonl")}
        command = page.inner_text("pre")
    with nd.Store(path, mode="r") as store:
        assert judged(store) == expected + [(*pairs[at], verdicts[at]) for at in (0, 1, 3, 4, 5)]
    assert [bool(each["label"]) for each in files["pairs.jsonl"]] == [True, *(verdicts[at] for at in (0, 1, 3, 4, 5))]
    arguments = shlex.split(command.replace("\\\n", ""))
    assert arguments[0] == "neardup"
    done = subprocess.run(
        [sys.executable, "-m", "neardup", *arguments[1:], "--quiet"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "truth    6 labeled pairs, 5 of them near-duplicates" in done.stdout


def test_the_files_are_those_of_the_command_line(browser, tmp_path):
    texts = texts_of(random.Random(3), 400)
    with nd.Store(tmp_path / "s", min_similarity=0.6, floor=0.3, texts=True) as store:
        store.check_and_add_many(range(300), texts[:300])
        store.check_and_add_many([f"{number}" for number in range(100)], texts[300:])  # 17 and "17" are two
        for pair in store.review(limit=250):
            store.judge(pair, same=pair.similarity > 0.6)
        for pair in itertools.combinations(range(16), 2):
            if store.get(pair[0]) and store.get(pair[1]):
                store.judge(pair, same=False)
        recent = store.recent(limit=1)[0]
        store.judge(recent, same=True)
        assert len(store.judgements()) > 205  # more than one response has
        store.check_and_add(recent.id, "an update: the same id with quite another text, which is kept now")
        store.judge((recent.id, store.judgements()[0].right.id), same=False)
    with (
        listening({"default": str(tmp_path / "s")}) as url,
        opened(browser, url, "review", accept_downloads=True) as page,
    ):
        page.wait_for_selector("text=Save pairs.jsonl")
        found = [saved(page, name, tmp_path) for name in ("pairs.jsonl", "documents.jsonl")]
    options = ["-o", "cli.jsonl", "--documents", "documents-cli.jsonl", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "neardup", "store", "judgements", "s", *options], cwd=tmp_path, check=True
    )
    assert done.returncode == 0
    for lines, name in zip(found, ("cli.jsonl", "documents-cli.jsonl"), strict=True):
        assert lines == [json.loads(line) for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]


def test_keys_that_are_pressed_while_a_judgement_is_sent_do_not_reach_the_next_pair(browser, path):
    with nd.Store(path, mode="r") as store:
        pairs = store.review(limit=100)
    held = []
    with listening({"default": path}) as url, opened(browser, url, "review") as page:
        page.wait_for_selector(READY)
        page.route("**/judge", lambda route: held.append(route))
        with page.expect_request("**/judge"):
            page.keyboard.press("s")
        for key in ("d", "s", "Space"):
            page.keyboard.press(key)
        assert page.get_attribute(".desk", "aria-busy") == "true"
        assert len(held) == 1
        held[0].continue_()
        page.wait_for_selector("#tally:has-text('visit: 1; 1 same')")
        page.wait_for_selector(READY)
        assert pairs[1].left.text[:20] in page.inner_text(".desk .sides")
        page.unroute("**/judge")
        page.keyboard.press("d")
        page.wait_for_selector("#tally:has-text('visit: 2;')")
    with nd.Store(path, mode="r") as store:
        assert judged(store) == [(each.left.text, each.right.text, at == 0) for at, each in enumerate(pairs[:2])]


def test_both_files_are_of_one_reading(browser, path, tmp_path):
    with nd.Store(path) as store:
        first, second = store.review(limit=2)
        store.judge(first, same=True)
    with (
        listening({"default": path}) as url,
        opened(browser, url, "review", accept_downloads=True) as page,
        nd.Client(url) as other,
    ):
        page.wait_for_selector(READY)
        pairs = saved(page, "pairs.jsonl", tmp_path)
        other.judge(second, same=False)
        documents = saved(page, "documents.jsonl", tmp_path)
        assert {each["id"] for each in documents} == {pairs[0]["left_id"], pairs[0]["right_id"]}
        page.focus(".desk")
        page.keyboard.press("s")
        page.wait_for_selector("#tally:has-text('visit: 1;')")
        assert len(saved(page, "pairs.jsonl", tmp_path)) > 1


def test_skipped_pairs_do_not_hide_those_behind_them(browser, tmp_path):
    with nd.Store(tmp_path / "s", min_similarity=0.6, floor=0.3, texts=True) as store:
        store.check_and_add_many(range(130), texts_of(random.Random(5), 130))
        assert len(store.review(limit=100)) > 41
    with listening({"default": str(tmp_path / "s")}) as url, opened(browser, url, "review") as page:
        seen = set()
        for _ in range(41):
            page.wait_for_selector(READY)
            seen.add(page.inner_text(".desk .sides"))
            page.keyboard.press("Space")
        assert len(seen) == 41


def test_the_keys_can_be_switched_off_which_is_remembered(browser, path):
    with listening({"default": path}) as url, opened(browser, url, "review") as page:
        page.wait_for_selector(READY)
        assert page.get_attribute(".desk", "aria-keyshortcuts") == "s d Space b"
        assert page.locator(".desk kbd:visible").all_inner_texts() == ["S", "D", "Space", "B"]
        page.keyboard.press("Control+s")  # is the browser's
        page.click("text=Shortcut keys")
        for again in (False, True):
            shown = page.context.new_page() if again else page
            if again:
                shown.goto(f"{url}/#review")
            shown.wait_for_selector(READY)
            assert not shown.is_checked("#keys")
            assert shown.get_attribute(".desk", "aria-keyshortcuts") is None
            assert shown.locator("kbd:visible").count() == 0
            shown.focus(".desk")
            shown.keyboard.press("s")
            shown.keyboard.press("Space")
        shown.close()
        page.click("[data-verdict=different]")
        page.wait_for_selector("#tally:has-text('visit: 1; 0 same, 1 different')")
        page.wait_for_selector(READY)
        page.check("#keys")
        page.focus(".desk")
        page.keyboard.press("s")
        page.wait_for_selector("#tally:has-text('visit: 2; 1 same, 1 different')")
        page.wait_for_selector(READY)
        page.focus("[data-verdict=back]")
        page.keyboard.press("Space")  # presses the button that has the focus
        page.wait_for_selector("[data-verdict=same][aria-pressed=true]")
        assert page.locator("[data-verdict=different]").get_attribute("aria-pressed") == "false"
        page.keyboard.press("d")
        page.wait_for_selector("#tally:has-text('visit: 2; 0 same, 2 different')")
        stored = page.evaluate("Object.fromEntries(Object.entries(localStorage))")
        assert stored == {"neardup-keys": "on"}
    with nd.Store(path, mode="r") as store:
        assert [each.same for each in store.judgements()] == [False, False]


def test_settings_last_as_long_as_the_page_where_the_browser_keeps_nothing(browser, path):
    blocked = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('', 'SecurityError'); }});"
    with listening({"default": path}) as url, opened(browser, url, "review", init=blocked) as page:
        page.wait_for_selector(READY)
        page.click("text=Shortcut keys")
        page.select_option("#language", "ja")
        page.wait_for_selector(READY)
        assert not page.is_checked("#keys")
        assert page.heard == []


def test_each_block_says_whose_it_is_where_they_are_one_above_another(browser, path):
    with listening({"default": path}) as url:
        for width, shown in ((390, True), (1280, False)):
            with opened(browser, url, "review", width=width) as page:
                page.wait_for_selector(READY)
                parts = page.locator(".desk .part:not(.none)")
                assert parts.count() >= 2
                names = parts.locator(".whose")
                assert names.count() == parts.count()  # also those that only a screen reader tells
                assert [box["height"] > 10 for box in (each.bounding_box() for each in names.all())] == [
                    shown
                ] * names.count()
                assert {each.split()[0] for each in names.all_text_contents()} <= {"Kept", "Removed"}


LOOKS = """(each) => { const style = getComputedStyle(each);
  return {sign: each.querySelector('.sign').textContent, border: style.borderTopWidth, weight: style.backgroundColor}; }"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_same_and_different_are_told_apart_without_colors(browser, path, scheme):
    with listening({"default": path}) as url, opened(browser, url, "review", color_scheme=scheme, width=390) as page:
        page.wait_for_selector(READY)
        same, different = (page.eval_on_selector(f"[data-verdict={each}]", LOOKS) for each in ("same", "different"))
        assert (same["sign"], different["sign"]) == ("=", "≠")
        assert same["border"] != different["border"]


def test_who_may_only_read_is_told_so_and_loses_no_pair(browser, path, tmp_path):
    with (
        listening({"default": path}, tokens=tokens_in(tmp_path)) as url,
        opened(browser, url, "review", init=f"sessionStorage.setItem('neardup-token', '{TOKEN}r');") as page,
    ):
        page.wait_for_selector(READY)
        before = page.inner_text(".desk .sides")
        page.keyboard.press("s")
        page.wait_for_selector(".desk [role=alert]:has-text('write')")
        assert page.inner_text(".desk .sides") == before
        assert page.is_disabled("text=Save pairs.jsonl")


def test_two_people_judge_at_the_same_time(browser, path):
    """Each sees what the store had at the time; the later judgement of a pair counts, and both export the same."""
    with listening({"default": path}) as url:
        contexts = [opened_context(browser) for _ in range(2)]
        pages = [context.new_page() for context in contexts]
        for page in pages:
            page.goto(f"{url}/#review")
            page.wait_for_selector(READY)
        for page, key in zip(pages, "sd", strict=True):
            page.keyboard.press(key)
            page.wait_for_selector("#tally:has-text('visit: 1;')")
        for context in contexts:
            context.close()
    with nd.Store(path, mode="r") as store:
        assert [each.same for each in store.judgements()] == [False]


def test_a_store_by_distance_shows_bits(browser, tmp_path):
    with nd.Store(tmp_path / "s", method="simhash", min_similarity=0, texts=True) as store:
        store.check_and_add("ferry", FERRY)
        assert not store.check_and_add("late", NEAR["ferry"]).is_new
        distance = store.recent()[0].distance
    with listening({"default": str(tmp_path / "s")}) as url, opened(browser, url, "review") as page:
        page.wait_for_selector(READY)
        assert page.inner_text(".desk .value") == f"{distance} bits"
