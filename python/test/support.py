"""What the tests share. They run in a folder that holds `hero`, a small workspace of the built-in figure, and its
`hero.jounce`; the environment has JOUNCE (the command) and JOUNCE_SOURCE (the source tree)."""

import functools
import os

import jounce

SOURCE = os.environ["JOUNCE_SOURCE"]


@functools.lru_cache(maxsize=None)
def hero():
    """The figure with modes and a network."""
    return jounce.load("hero.jounce")


@functools.lru_cache(maxsize=None)
def jelly():
    """The same with springs of single vertices."""
    if not os.path.isfile("jelly.jounce"):
        run_command("new", "jelly", "--figure", "--layer", "vertex")
        run_command("export", "jelly", "-o", "jelly.jounce")
    return jounce.load("jelly.jounce")


def run_command(*words):
    """What the command prints."""
    return jounce.command.run(list(words))
