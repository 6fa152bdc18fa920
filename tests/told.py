"""A progress that keeps the notes of a run."""

from neardup.progress import Progress


class Told(Progress):
    def __init__(self):
        super().__init__()
        self.lines = []

    def say(self, line):
        self.lines.append(line)

    def note(self, line):
        self.say(line)
