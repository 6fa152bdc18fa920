"""The command `neardup completion`, and the answers to shells that ask what may come next."""

import contextlib
import os
import sys
from typing import NoReturn

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, get_completion_class

from neardup.cli.shown.next_command import quoted

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_NEARDUP_COMPLETE"

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' completion kind value word words=() last begun rest=$COMP_LINE
    # Bash divides words at : and =, too. Those without a space between them are one.
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        last=$((${#words[@]} - 1))
        if [[ $last -ge 0 && -n $COMP_LINE && $rest != [[:space:]]* ]]; then
            words[last]+=$word
        else
            words+=("$word")
        fi
        rest=${rest#"${rest%%%%[![:space:]]*}"}
        rest=${rest#"$word"}
    done
    last=$((${#words[@]} - 1)) begun=
    value=${words[last]}
    [[ $value == --*=* ]] && value=${value#*=}
    # What comes before the last : is there already, and stays.
    [[ $COMP_WORDBREAKS == *:* && $value == *:* ]] && begun=${value%%:*}:
    COMPREPLY=()
    for completion in $(COMP_WORDS="${words[*]}" COMP_CWORD=$last %(complete_var)s=bash_complete "$1" 2>/dev/null); do
        kind=${completion%%%%,*} value=${completion#*,}
        case $kind in
            file) compopt -o default ;;
            dir) compopt -o dirnames ;;
            *)
                [[ $value == "'$begun"* ]] && value="'${value#"'$begun"}"
                COMPREPLY+=("${value#"$begun"}")
                [[ $value == *: ]] && compopt -o nospace ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _Bash(BashComplete):
    """Completion for Bash, which inserts words as they are: those with spaces and the like are quoted."""

    source_template = _BASH

    def format_completion(self, item: CompletionItem) -> str:
        """See `click.shell_completion.ShellComplete`."""
        if item.type == "plain" and not item.value.endswith(":"):
            return f"plain,{quoted(item.value)}"
        return super().format_completion(item)


def answer(command: click.Command, name: str) -> NoReturn:
    """Answer a shell, by the variables that its script has set. Whatever goes wrong, nothing is printed into a line being typed."""
    shell, _, instruction = os.environ[VARIABLE].partition("_")
    try:
        print(_class(shell)(command, {}, name, VARIABLE).complete() if instruction == "complete" else source(shell))
    except Exception:
        os._exit(1)
    with contextlib.suppress(OSError):  # the shell has gone
        sys.stdout.flush()
    os._exit(0)


def _class(shell: str) -> type[click.shell_completion.ShellComplete]:
    add_completion_class(_Bash, "bash")
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"{shell} is no shell of {', '.join(SHELLS)}.")
    return found


def source(shell: str) -> str:
    """The script that a shell reads."""
    made = _class(shell)(click.Command("neardup"), {}, "neardup", VARIABLE)
    return (made.source_template % made.source_vars()).strip()


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script by which a shell completes commands, options, files and columns.

    SHELL: bash, zsh or fish. Options that take a column complete the columns of the inputs that are typed already.

    \b
    neardup completion bash > ~/.local/share/bash-completion/completions/neardup
    neardup completion zsh > ~/.zfunc/_neardup
    neardup completion fish > ~/.config/fish/completions/neardup.fish

    zsh also needs fpath+=~/.zfunc before compinit in ~/.zshrc.
    """  # noqa: D301 - a raw string has no \b, by which Click leaves the lines as they are
    click.echo(source(shell))
