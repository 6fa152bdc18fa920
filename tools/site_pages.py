"""Hooks of mkdocs: pages and pictures that lie outside docs/ become part of the site."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import notebook_pages

ROOT = Path(__file__).parent.parent
OUTSIDE = ("CHANGELOG.md", "benchmarks/README.md", "benchmarks/results/*.svg", "benchmarks/results/*.json")
"""What pages in docs/ point to with `../`. On the site it lies beside them, so the dots go."""
OUTPUT = re.compile(r'(<span id="__span-[\d-]+")>(?=(?:<a [^>]*></a>)?(?:<span class="(?:go|gt|gr)">|\n</span>))')
CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
FIGURE, FIGURES = 26, 40
"""Characters of a cell with a figure at most, and of one with more figures than words; longer ones may break."""
SEARCH = 'data-md-component="search" role="dialog"'
LANGUAGES = {".zh.md": "zh-Hans", ".ja.md": "ja"}
"""Of pages in another language, by the end of their names: Chinese and Japanese have other forms of the same characters."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies outside docs/ under its name in the project, and the notebooks as pages and as files."""
    for pattern in OUTSIDE:
        for path in sorted(ROOT.glob(pattern)):
            files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    for path in notebook_pages.notebooks():
        files.append(File.generated(config, f"cookbook/{path.name}", abs_src_path=str(path)))
        files.append(File.generated(config, f"cookbook/{path.stem}.md", content=notebook_pages.page(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Point to those files where they are on the site, and tell prompts and outputs of examples apart."""
    markdown = re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)
    up = "../" * (page.file.src_uri.count("/") + 1)
    markdown = re.sub(rf"(\]\()\s*{re.escape(up)}(?=CHANGELOG\.md|benchmarks/)", rf"\1{up[3:]}", markdown)
    markdown = re.sub(rf"(\]\(){re.escape(up)}examples/(cookbook/[\w-]+)\.ipynb", rf"\1{up[3:]}\2.md", markdown)
    return markdown.replace(f"]({up[3:]}docs/", f"]({up[3:]}")  # in a page from outside docs/


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Mark lines of output, which copies leave out, and cells with a figure, which keep it on one line."""
    html = OUTPUT.sub(r'\1 class="said">', html)
    return CELL.sub(lambda cell: f'<td class="figure">{cell[1]}</td>' if is_figure(cell[1]) else cell[0], html)


def is_figure(cell: str) -> bool:
    """Whether a cell holds a figure, with its unit or a few words."""
    text = re.sub(r"<[^>]+>", "", cell)
    digits = len(re.findall(r"\d", text))
    return 0 < len(text) <= (FIGURES if 3 * digits > len(text) else FIGURE if digits else 0) and "<a " not in cell


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Name the search for screen readers, and say which language a page is in."""
    output = output.replace(SEARCH, f'{SEARCH} aria-label="Search"')
    for ending, language in LANGUAGES.items():
        if page.file.src_uri.endswith(ending):
            return output.replace('<html lang="en"', f'<html lang="{language}"', 1)
    return output
