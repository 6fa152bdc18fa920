"""The table of bad input on the page of reliability."""

from places import ROOT


def _table():
    page = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    lines = page.partition("## Bad input")[2].partition("\n| input |")[2].partition("\n\n")[0].splitlines()
    return {
        cells[0]: cells[1:] for cells in ([each.strip() for each in line.strip("|").split("|")] for line in lines[2:])
    }


TABLE = _table()
SURPRISES = tuple(TABLE)
"""What is wrong with inputs."""
COLUMNS = ("files", "frames", "dictionaries", "stores", "service", "spark", "ray", "verify")
HUGE = 10**5000
INTEGERS = (2**31, 2**53, 2**63)
