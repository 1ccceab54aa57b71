"""Reads the output of a program's `info --json`, and prints its schedules in the form of
`info --schedule`."""
import json
import sys

program = json.load(sys.stdin)
numbers = {segment["name"]: number for number, segment in enumerate(program["segments"])}
tasks = {task["name"] for task in program["tasks"]}


def place(value):
    names = {"field": program["data"], "port": program["inputs"]}.get(value["space"], program["segments"])
    assert names[value["index"]]["name"] == value["name"]
    stride = f", {value['copy_stride']}" if value["copy_stride"] else ""
    return f"<{value['space']}, {value['index']}, {value['offset']}{stride}>"


def attributes(command):
    given = [f"{name} = {command[name]} : i64" for name in ("ahead", "device", "queue")
             if command.get(name)]
    return f" {{{', '.join(given)}}}" if given else ""


def show(commands, depth):
    for command in commands:
        kind = command["command"]
        if kind == "run":
            assert command["task"] in tasks
            text = f'@"task/{command["task"]}"'
        elif kind == "transfer":
            text = f"{command['bytes']} from {place(command['from'])} to {place(command['to'])}"
        elif kind == "fill":
            text = f"{command['bytes']} at {place(command['to'])}"
        elif kind in ("record", "await"):
            text = str(command["event"])
        elif kind == "repeat":
            text = f"{command['over']} {{"
        else:
            text = f'"{command["period"]}" {{'
        print("  " * depth + f"hfta.{kind} {text}{attributes(command)}")
        if "commands" in command:
            show(command["commands"], depth + 1)
            print("  " * depth + "}")


for schedule in program["schedules"]:
    keeps = ", ".join(str(numbers[name]) for name in schedule["keeps"])
    print(f"hfta.schedule @{schedule['name']} keeps [{keeps}] {{")
    show(schedule["commands"], 1)
    print("}")
