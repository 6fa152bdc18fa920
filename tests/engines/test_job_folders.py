"""What a job was is compared with what it is now: what another version began is refused as that, with what to do."""

import pytest

import neardup as nd
from engine_runs import work_of
from neardup.engines.job.checkpoint import Kept, job_of
from neardup.recipe.short_rule import NAME
from neardup.version import __version__

JOB = job_of(work_of(), "deduplicate", text="text", id="id", order=("n",))


class Lists(dict):
    """A folder in memory."""

    def __str__(self):
        return "work"

    def notes(self, name):
        return self.setdefault(name, Notes())

    def other_file(self):
        return None


class Notes(list):
    add = list.append

    def read(self):
        return list(self)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (JOB | {"neardup": "0.0.1"}, f'neardup was "0.0.1", now "{__version__}"'),
        ({name: value for name, value in JOB.items() if name != NAME}, "short_rule was 1, now 2"),
        (JOB | {"neardup": "0.0.1", "options": {}}, f'neardup was "0.0.1", now "{__version__}"'),
    ],
)
def test_a_job_that_another_version_began_is_refused_with_what_to_do(before, told):
    folder = Lists()
    Kept(folder, before).open()
    with pytest.raises(nd.InputError) as refused:
        Kept(folder, JOB)
    assert str(refused.value) == (
        f"work was begun by another version of neardup, and this one cannot go on with its work: {told}. Go on with that version, "
        "or give another folder as `work=`, and the job begins anew."
    )


def test_a_job_with_an_option_that_was_not_there_yet_goes_on_unless_it_is_given():
    folder = Lists()
    Kept(folder, JOB | {"options": {name: value for name, value in JOB["options"].items() if name != "keep_as"}}).open()
    Kept(folder, JOB)
    with pytest.raises(
        nd.RecipeMismatch, match='another job: options keep_as was null, now "number". Give what was given'
    ):
        Kept(folder, JOB | {"options": JOB["options"] | {"keep_as": "number"}})
