"""The examples that every --help ends with: their words are understood, and those that need no file of a user run."""

import shlex

import pytest
import typer

from stablessm.cli import app, main


def commands(group=None, path=()):
    """Yield (words of a command, the command)."""
    group = typer.main.get_command(app) if group is None else group
    for name, command in group.commands.items():
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


def examples(command):
    told = (command.help or "").partition("Examples:")[2]
    return [shlex.split(line.split("  #")[0])[1:] for line in map(str.strip, told.splitlines()) if line]


COMMANDS = dict(commands())
EXAMPLES = [words for command in COMMANDS.values() for words in examples(command)]


def test_every_command_has_examples():
    assert all(examples(command) for command in COMMANDS.values())


@pytest.mark.parametrize("words", EXAMPLES, ids=" ".join)
def test_its_words_are_understood(words, monkeypatch):
    root, understood = typer.main.get_command(app), []
    path = words[:2] if tuple(words[:2]) in COMMANDS else words[:1]
    command = root
    for word in path:
        command = command.commands[word]
        monkeypatch.setattr(command, "callback", lambda **values: understood.append(values))
    root.main(args=words, prog_name="stablessm", standalone_mode=False)
    assert understood and set(understood[-1]) == {one.name for one in command.params} - {"help"}


SELF_CONTAINED = [
    one for one in EXAMPLES
    if one[0] in ("list", "verify", "doctor", "data") and "--data" not in one
    and not any(word.endswith((".toml", ".nc", ".checkpoint")) for word in one)
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("words", SELF_CONTAINED, ids=" ".join)
def test_it_runs(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ending:
        main(words)
    assert ending.value.code == 0 and capsys.readouterr().out
