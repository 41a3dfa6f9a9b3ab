"""A command's options as one frozen value: its fields are the parameters of the command, with the
types that click makes.
"""

import dataclasses
import inspect

import click
import pytest

from conformance.commands.cli import cli
from conformance.commands.options import TableOptions, pass_options

GROUPED = {
    "tables": "table_options",
    "dialect": "table_options",
    "database": "table_options",
    "values_file": "table_options",
    "verbose": "table_options",
    "broker_spec": "broker_options",
    "broker_config": "broker_options",
    "broker_property": "broker_options",
    "registry": "broker_options",
    "topic_prefix": "broker_options",
    "remote": "spark_conf",
    "spark_packages": "spark_conf",
    "spark_conf": "spark_conf",
    "memory": "spark_conf",
}
"""The field in which several parameters of a command come together."""


def options_class(command):
    """The dataclass of the command's options; None for a callback with keywords."""
    function = inspect.unwrap(command.callback)
    return function.__globals__.get(function.__annotations__.get("options"))


COMMANDS = {
    name: command for name, command in cli.commands.items() if options_class(command) is not None
}


def test_the_commands_with_a_value_of_options():
    assert sorted(COMMANDS) == ["fuzz", "load", "pipeline", "publish", "record", "run", "stream"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_fields_are_the_parameters_of_the_command(name):
    command = COMMANDS[name]
    fields = {field.name: field for field in dataclasses.fields(options_class(command))}
    grouped = dict(GROUPED)
    if "spark_conf" in fields:
        grouped["master"] = "spark_conf"
    if name in ("run", "load"):
        grouped["topic"] = "broker_options"
    parameters = {grouped.get(parameter.name, parameter.name) for parameter in command.params}
    assert {*fields} == parameters
    for parameter in command.params:
        if parameter.name not in fields or parameter.name in grouped:
            continue
        nullable = "None" in fields[parameter.name].type.split(" | ")
        missing = parameter.to_info_dict()["default"] is None
        several = parameter.multiple if isinstance(parameter, click.Option) else False
        several = several or parameter.nargs == -1
        assert nullable == (missing and not parameter.required and not several), parameter.name


def test_a_callback_gets_one_value():
    received = []
    callback = pass_options(TableOptions)(received.append)
    parameters = {
        "tables": ("orders.sql",),
        "dialect": None,
        "database": "shop",
        "values_file": None,
        "verbose": False,
    }
    callback(**parameters)
    assert received == [TableOptions(("orders.sql",), None, "shop", None, False)]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        callback(**parameters, colour="red")
