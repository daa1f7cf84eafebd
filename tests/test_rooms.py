"""`cp.character` and `cp.simulate` are packages and also functions: they can be called, and help shows the function."""

import inspect
import pydoc

import pytest

import counterpoise as cp
from counterpoise.character.library import character
from counterpoise.simulate.loop import simulate

BOTH = pytest.mark.parametrize("room, function", [(cp.character, character), (cp.simulate, simulate)])


@BOTH
def test_help_shows_the_signature_and_the_docstring_of_the_function(room, function):
    page = pydoc.render_doc(room, renderer=pydoc.plaintext)
    assert f"{function.__name__}(" in page
    for name in inspect.signature(function).parameters:
        assert name in page
    for line in inspect.getdoc(function).splitlines():
        assert line in page
    assert page.index(f"{function.__name__}(") < page.index("PACKAGE CONTENTS")  # before the list of modules


@BOTH
def test_the_signature_is_that_of_the_function(room, function):
    assert inspect.signature(room) == inspect.signature(function)
    assert inspect.getdoc(function).splitlines()[0] in room.__doc__


@BOTH
def test_it_is_still_a_package(room, function):
    assert inspect.ismodule(room) and callable(room)
    assert room.__doc__.startswith(inspect.getsource(room).split('"""')[1].splitlines()[0])
