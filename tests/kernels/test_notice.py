"""The notice of a compilation: once, to who can read it, and of our kernels alone."""

import logging
import sys

import numba
import pytest

from bayescm._kernels import jit


@pytest.fixture
def fresh(monkeypatch, compiled):
    monkeypatch.setattr(jit.NOTICE, "said", False)
    logger = logging.getLogger("bayescm")  # as before a command of this process turned it on
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    logger.manager._clear_cache()
    monkeypatch.delattr(sys, "ps1", raising=False)


def compile_one(module="bayescm._kernels.some"):
    def plus_one(x):
        return x + 1

    plus_one.__module__ = module
    made = numba.njit(plus_one)
    return made(1) + made(1)  # the second call has it


def test_a_session_is_told_once(fresh, monkeypatch, capsys):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    for other in ("another.library", None):  # PyTensor makes functions of no module
        compile_one(other)
    assert not capsys.readouterr().err
    compile_one()
    compile_one()
    assert capsys.readouterr() == ("", "bayescm: compiling, about half a minute, once on this machine\n")


def test_a_log_is_told_instead(fresh, monkeypatch, capsys, caplog):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with caplog.at_level(logging.INFO, "bayescm"):
        compile_one()
    assert caplog.messages == ["compiling, about half a minute, once on this machine"]
    assert not capsys.readouterr().err


def test_a_script_whose_errors_go_to_a_file_is_not(fresh, capsys):
    compile_one()
    assert capsys.readouterr() == ("", "")


def test_nothing_is_kept_where_no_folder_can_be_written(fresh, monkeypatch, capsys):
    monkeypatch.setattr(jit, "FOLDER", None)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    compile_one()
    assert "in every session: set BAYESCM_CACHE_DIR to a folder" in capsys.readouterr().err
