"""The contract kit runs where pytest-asyncio is not configured."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import phoneprov_adapters.testing


def _classes_with_asynchronous_tests() -> Iterator[type]:
    kit = phoneprov_adapters.testing
    for found in pkgutil.walk_packages(kit.__path__, f"{kit.__name__}."):
        for class_ in vars(importlib.import_module(found.name)).values():
            if inspect.isclass(class_) and any(
                name.startswith("test_") and inspect.iscoroutinefunction(test)
                for name, test in vars(class_).items()
            ):
                yield class_


def test_every_class_with_asynchronous_tests_is_marked() -> None:
    classes = set(_classes_with_asynchronous_tests())
    unmarked = [
        class_.__qualname__
        for class_ in classes
        if "asyncio" not in {mark.name for mark in getattr(class_, "pytestmark", ())}
    ]

    assert len(classes) == 3
    assert unmarked == []
