"""How a store compares values: as its first one tells, for good."""

import pytest

import neardup as nd

NIGHT = "The night was dark, and the lamps of the town were out."


@pytest.mark.parametrize(
    ("first", "then", "keep_as"),
    [(3, "2024-01-31", "number"), ("2024-01-31", 3, "time"), ("20240131", "2024-02-01", "number")],
)
def test_the_first_value_decides_for_a_store_and_it_stays(any_place, first, then, keep_as):
    with nd.Store(any_place, keep="max:v") as store:
        store.check_and_add("none", NIGHT, metadata={})
        assert store.keep_as is None
        store.check_and_add("a", NIGHT, metadata={"v": first})
        assert store.keep_as == keep_as
        with pytest.raises(nd.OptionError, match=f"`metadata`: v is {then!r}, and the store compares"):
            store.check_and_add("b", NIGHT, metadata={"v": then})
        store.remove(["a"])
    with nd.Store(any_place, keep_as=keep_as) as store:
        with pytest.raises(nd.OptionError, match="the store compares"):
            store.check_and_add("b", NIGHT, metadata={"v": then})
        assert store.info().keep_as == keep_as
    with pytest.raises(nd.OptionError, match=f"`keep_as={keep_as!r}`. Leave it out"):
        nd.Store(any_place, keep_as="text")


def test_a_store_of_before_goes_on_with_the_kind_of_its_first_value(tmp_path):
    with nd.Store(tmp_path / "s", keep="max:v") as store:
        store.check_and_add("a", NIGHT, metadata={"v": "2024-01-31"})
        with store._files.changing():
            store._files.record._write("DELETE FROM facts WHERE name = ?", [("keep_as",)])
            store._files.record.commit()
    with nd.Store(tmp_path / "s") as store:
        assert store.keep_as is None
        with pytest.raises(nd.OptionError, match="the store compares dates"):
            store.check_and_add("b", NIGHT, metadata={"v": 5})
        assert store.check_and_add("b", NIGHT, metadata={"v": "2024-02-01"}).is_new
        assert store.keep_as == "time"


@pytest.mark.parametrize("value", [[1], {"a": 1}], ids=["array", "object"])
def test_an_array_or_an_object_is_text_at_most(any_place, value):
    with nd.Store(any_place, keep="max:v") as store:
        for first in (value, 3, value):
            if first == 3:
                store.check_and_add("a", NIGHT, metadata={"v": first})
            else:
                with pytest.raises(nd.OptionError, match="`metadata`: v is "):
                    store.check_and_add("b", NIGHT, metadata={"v": first})
        assert store.keep_as == "number"


def test_infinity_is_above_all_numbers_and_large_integers_are_told_apart(any_place):
    values = [2**60, 2**60 + 1, "nan", "-inf", 10**400, "inf", None]
    with nd.Store(any_place, keep="max:v") as store:
        found = [store.check_and_add(i, NIGHT, metadata={"v": value}) for i, value in enumerate(values)]
    assert [answer.is_new for answer in found] == [True, True, False, False, True, True, False]
