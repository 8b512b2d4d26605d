"""Packages that only some answers need: imported for these, and where one is absent, named with what installs it."""

import re
from importlib import import_module, metadata
from typing import Any


def need(module: str, what: str) -> Any:
    """Import a module for `what`, or say in one sentence which package is missing and how to install it.

    Examples
    --------
    >>> need("matplotlob", "A picture")
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: A picture needs matplotlob, which isn't installed: python -m pip install 'matplotlob'.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as absent:
        if absent.name is None or absent.name.partition(".")[0] != package:
            raise
        raise ModuleNotFoundError(
            f"{what} needs {package}, which isn't installed: python -m pip install '{_requirement(package)}'.",
            name=package,
        ) from None


def _requirement(package: str) -> str:
    """Return what bayescm declares to need of a package, extras included; its name alone where it declares nothing."""
    name = package.replace("_", "-")
    try:
        declared = metadata.requires("bayescm") or []
    except metadata.PackageNotFoundError:  # a checkout on the path
        declared = []
    return next((one.partition(";")[0].strip() for one in declared if re.match(rf"{name}\b(?!-)", one)), name)
