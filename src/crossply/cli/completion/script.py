"""`crossply completions`: print a completion script for a shell.

The scripts only ask `crossply internal complete`, so they never go stale when commands are added.
"""

from __future__ import annotations

import os

from crossply.cli.framework.command import Argument, Command, Flag, Invocation

BASH = """\
_crossply() {
    local IFS=$'\\n'
    COMPREPLY=($(crossply internal complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _crossply crossply
"""

ZSH = """\
#compdef crossply
autoload -Uz compinit
(( $+functions[compdef] )) || compinit
_crossply() {
    local -a candidates
    candidates=(${(f)"$(crossply internal complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#candidates )); then
        compadd -- $candidates
    else
        _files
    fi
}
compdef _crossply crossply
"""

FISH = """\
function __crossply_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    crossply internal complete -- $before[2..-1] "$current" 2>/dev/null
end
complete -c crossply -a '(__crossply_complete)'
"""

POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName crossply -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $words += '' }
    crossply internal complete -- @words 2>$null | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH, "powershell": POWERSHELL}
REMOVALS = {
    "bash": "complete -r crossply\n",
    "zsh": "compdef -d crossply\n",
    "fish": "complete -e -c crossply\n",
    "powershell": "Register-ArgumentCompleter -Native -CommandName crossply -ScriptBlock { }\n",
}


def run(invocation: Invocation) -> int:
    """Print the script for the shell that is named, or for the login shell."""
    shell = invocation["shell"] or login_shell(invocation.environ.get("SHELL", ""))
    invocation.stdout.write((REMOVALS if invocation["uninstall"] else SCRIPTS)[shell])
    return 0


def login_shell(path: str) -> str:
    """Name the login shell, taking bash for one that has no script."""
    name = os.path.basename(path)
    return name if name in SCRIPTS else "bash"


COMMAND = Command(
    "completions",
    "Print a completion script for your shell.",
    run,
    arguments=(
        Argument(
            "shell",
            "bash, zsh, fish or powershell (7.3 or newer); your login shell if left out.",
            optional=True,
            choices=tuple(SCRIPTS),
        ),
    ),
    flags=(Flag("uninstall", "Print the command that removes the completions instead."),),
    description=(
        "Source the script in the start-up file of your shell, for example ~/.bashrc.\n\n"
        "Crossply is also a kubectl plugin: kubectl crossply trace. The completion of kubectl completes its "
        "words, too."
    ),
    examples=(
        "source <(crossply completions bash)",
        "crossply completions fish | source",
        "crossply completions powershell | Out-String | Invoke-Expression",
    ),
)
