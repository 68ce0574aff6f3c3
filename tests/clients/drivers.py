"""Programs that send every request of a plan through a generated client, and print the status of
each. A reply that the client cannot read is an error."""

import json
import re
from collections.abc import Sequence

from clients.plan import Call

OPENAPI_PYTHON_CLIENT = """
import importlib, inspect, json, keyword, sys
from phoneprov_client import AuthenticatedClient, models

url, token, plan = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
client = AuthenticatedClient(base_url=url, token=token)
for call in plan:
    tag = call["tag"].lower().replace(" ", "_")
    tag += "_" * keyword.iskeyword(tag)
    module = importlib.import_module(f"phoneprov_client.api.{tag}.{call['operation']}")
    named = {"from_" if name == "from" else name: value for name, value in call["query"].items()}
    if call["body"] is not None:
        named["body"] = getattr(models, call["schema"]).from_dict(call["body"])
    elif "body" in inspect.signature(module.sync_detailed).parameters:
        named["body"] = None  # this generator cannot leave out a body that may be null
    reply = module.sync_detailed(*call["path"].values(), client=client, **named)
    assert reply.parsed is not None, (call["operation"], reply.content)
    print(call["operation"], int(reply.status_code))
"""

GENERATOR_PYTHON = """
import inspect, json, re, sys
import openapi_client as made

url, token, plan = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
client = made.ApiClient(made.Configuration(host=url, access_token=token))

def snake(name):
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()

for call in plan:
    name = "".join(one[:1].upper() + one[1:] for one in call["tag"].split()) + "Api"
    api = getattr(made, name)(client)
    method = getattr(api, call["operation"] + "_with_http_info")
    known = inspect.signature(method).parameters
    named = {snake(name): value for name, value in {**call["path"], **call["query"]}.items()}
    named = {name if name in known else f"var_{name}": value for name, value in named.items()}
    if call["body"] is not None:
        named[snake(call["schema"])] = getattr(made, call["schema"]).from_dict(call["body"])
    try:
        reply = method(**named)
        assert reply.data is not None, call["operation"]
        print(call["operation"], reply.status_code)
    except made.ApiException as error:
        assert error.data.error.code, call["operation"]
        print(call["operation"], error.status)
"""


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[ _]", name))


def _camel(name: str) -> str:
    pascal = _pascal(name)
    return pascal[:1].lower() + pascal[1:]


def go(plan: Sequence[Call]) -> str:
    """The program in Go."""
    calls = []
    for one in plan:
        path = "".join(f", {json.dumps(value)}" for value in one.path.values())
        lines = [f"request := client.{_pascal(one.tag)}API.{_pascal(one.operation)}(ctx{path})"]
        if one.body is not None:
            text = json.dumps(json.dumps(one.body))
            lines += [
                f"var body made.{one.schema}",
                f"check(json.Unmarshal([]byte({text}), &body))",
                f"request = request.{one.schema}(body)",
            ]
        lines += [
            f"request = request.{_pascal(name)}({value})" for name, value in one.query.items()
        ]
        lines += ["_, reply, err := request.Execute()", f'report("{one.operation}", reply, err)']
        calls.append("\t{\n\t\t" + "\n\t\t".join(lines) + "\n\t}\n")
    return (
        'package main\n\nimport (\n\t"context"\n\t"encoding/json"\n\t"fmt"\n\t"net/http"\n\t"os"\n'
        "\n"
        '\tmade "github.com/example/phones"\n)\n\n'
        "func main() {\n\tsettings := made.NewConfiguration()\n"
        "\tsettings.Servers = made.ServerConfigurations{{URL: os.Args[1]}}\n"
        "\tclient := made.NewAPIClient(settings)\n"
        "\tctx := context.WithValue(context.Background(), made.ContextAccessToken, os.Args[2])\n"
        + "".join(calls)
        + "}\n\nfunc check(err error) {\n\tif err != nil {\n\t\tpanic(err)\n\t}\n}\n\n"
        "func report(name string, reply *http.Response, err error) {\n"
        "\tif reply == nil || (err != nil && reply.StatusCode < 300) {\n\t\tpanic(err)\n\t}\n"
        "\tfmt.Println(name, reply.StatusCode)\n}\n"
    )


def typescript(plan: Sequence[Call]) -> str:
    """The program in TypeScript."""
    calls = []
    for one in plan:
        named = {
            _camel(name): json.dumps(value) for name, value in {**one.path, **one.query}.items()
        }
        if one.body is not None:
            named[_camel(one.schema)] = f"made.{one.schema}FromJSON({json.dumps(one.body)})"
        fields = ", ".join(f"{name}: {value}" for name, value in named.items())
        api = f"new made.{_pascal(one.tag)}Api(settings)"
        arguments = f"{{ {fields} }} as any" if one.takes else ""
        calls.append(
            f'  await report("{one.operation}", {api}.{_camel(one.operation)}Raw({arguments}));\n'
        )
    return (
        'import * as made from "./index";\n\n'
        "declare const process: { argv: string[]; exit(code: number): void };\n"
        "const settings = new made.Configuration({ basePath: process.argv[2], "
        "accessToken: process.argv[3] });\n\n"
        "async function report(name: string, sent: Promise<made.ApiResponse<unknown>>) {\n"
        "  try {\n    const reply = await sent;\n    await reply.value();\n"
        "    console.log(name, reply.raw.status);\n  } catch (error) {\n"
        "    if (!(error instanceof made.ResponseError)) throw error;\n"
        "    console.log(name, error.response.status);\n  }\n}\n\n"
        "async function main(): Promise<void> {\n"
        + "".join(calls)
        + "}\n\nmain().catch((error) => { console.error(error); process.exit(1); });\n"
    )


ZOD = """
const { api } = require("./client.js");
const fs = require("fs");
const [url, token, file] = process.argv.slice(2);
const of = Object.fromEntries(api.api.map((one) => [one.alias, one]));
const passed = (what, schema, value) => {
  const found = schema.safeParse(value);
  if (!found.success) throw new Error(what + ": " + JSON.stringify(found.error.issues));
};
(async () => {
  for (const call of JSON.parse(fs.readFileSync(file))) {
    const endpoint = of[call.operation];
    const body = (endpoint.parameters ?? []).find((one) => one.type === "Body");
    const sent = call.body === null ? undefined : JSON.stringify(call.body);
    if (sent) passed("body of " + call.operation, body.schema, call.body);
    const query = new URLSearchParams(call.query).toString();
    const headers = { Authorization: "Bearer " + token };
    if (sent) headers["Content-Type"] = "application/json";
    const target = url + call.url + (query ? "?" + query : "");
    const reply = await fetch(target, { method: call.method, headers, body: sent });
    const isJson = (reply.headers.get("content-type") ?? "").includes("json");
    const content = isJson ? await reply.json() : await reply.text();
    const failure = (endpoint.errors ?? []).find((one) => one.status === reply.status);
    if (isJson && (reply.ok || failure)) {
      passed("reply of " + call.operation, reply.ok ? endpoint.response : failure.schema, content);
    }
    console.log(call.operation + " " + reply.status);
  }
})().catch((error) => { console.error(error); process.exit(1); });
"""
"""Sends each request, and checks its body and its reply with the schemas of ``client.js``."""
