"""Renderings a second, and a plan over 2,000 phones: its processor time, its memory, and its effect
on other requests of the same process. ``python -m bench.rollouts``."""

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from phoneprov_adapters.composition.lifecycle import prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.rendering.renderer import render
from phoneprov_adapters.testing.phone_records import a_phone, a_profile, a_revision
from phoneprov_adapters.testing.records import (
    a_link,
    a_mac,
    a_user,
    an_extension,
    identifier,
)
from phoneprov_core.batches.commands import CreateBatch
from phoneprov_core.deployments.model import Action, Outcome
from phoneprov_core.deployments.order import load_order, new_record
from phoneprov_core.kernel.system import shown
from phoneprov_core.profiles.model import from_template
from phoneprov_core.templates.model import CreateTemplate, TemplatePatch
from phoneprov_core.templates.recipes import given_by
from support.data_folder import populate

BODY = (Path(__file__).parents[1] / "examples/templates/7945-sccp.cnf.xml").read_text("utf-8")


async def fill(container: object, phones: int) -> None:
    """A template, and phones of which each has a profile, a user and a line of its own."""
    use_cases = container.use_cases()  # type: ignore[attr-defined]
    actor, database = use_cases.system_actor(), container.database()  # type: ignore[attr-defined]
    deploy = container.deploy()  # type: ignore[attr-defined]
    made = await use_cases.templates.create(actor, CreateTemplate(name="office", body=BODY))
    for begin in range(1, phones + 1, 250):
        async with database.write() as tx:
            for number in range(begin, min(begin + 250, phones + 1)):
                user, phone = a_user(number), a_phone(number)
                profile = a_profile(number, user.uuid)
                content = from_template("office", {})
                revision = a_revision(number, profile, cnf_xml=content.text, template="office")
                await tx.users.add(user)
                extension = an_extension(number, extension=str(10_000 + number))
                await tx.extensions.add(extension)
                await tx.links.add(a_link(number, user.uuid, extension.uuid))
                await tx.phones.add(phone)
                await tx.profiles.add(profile)
                await tx.revisions.add(revision, content.text)
                order = await load_order(tx, Action.SWITCH, profile, phone)
                order = await deploy.rendered(order)
                record = new_record(
                    order, identifier(number), actor.user_uuid, deploy.filename(phone),
                    shown(container.clock()()),  # type: ignore[attr-defined]
                )  # fmt: skip
                record = _placed(record)
                await tx.deployments.add(record)
                await tx.renderings.keep(record, order.source.rendered, [])
    body = BODY.replace("SCCP45.9-4-2SR3-1S", "SCCP45.9-4-2SR4-2S")
    await use_cases.templates.update(actor, made.uuid, TemplatePatch(body=body))


def _placed(record: object) -> object:
    import msgspec  # noqa: PLC0415

    return msgspec.structs.replace(  # type: ignore[type-var]
        record, number=1, place="served/x", outcome=Outcome.DEPLOYED, restart="ok"
    )


async def latencies(use_cases: object, until: asyncio.Event) -> list[float]:
    """Milliseconds of reads of one phone, one after the other."""
    taken = []
    while not until.is_set():
        began = time.perf_counter()
        await use_cases.phones.get(use_cases.system_actor(), a_mac(1))  # type: ignore[attr-defined]
        taken.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.002)
    return taken


def p99(taken: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(taken, n=100)[98]


async def main(phones: int) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        populate(data)
        container = prepare(read_settings({"PHONEPROV_DATA_DIR": str(data)}))
        async with running(container):
            use_cases = container.use_cases()
            await fill(container, phones)
            async with container.database().read() as tx:
                profile = await tx.profiles.find(identifier(1))
                phone = await tx.phones.find(a_mac(1))
                order = await load_order(tx, Action.SWITCH, profile, phone)
            given = given_by(order.recipe, "http://pbx.example.com")
            render(BODY, given, 10**6)
            began, count = time.process_time(), 2000
            for _ in range(count):
                render(BODY, given, 10**6)
            print(f"renderings a second: {count / (time.process_time() - began):,.0f}")

            idle_over = asyncio.Event()
            asyncio.get_running_loop().call_later(3, idle_over.set)
            idle = await latencies(use_cases, idle_over)
            over = asyncio.Event()
            reading = asyncio.ensure_future(latencies(use_cases, over))
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            cpu, wall = time.process_time(), time.perf_counter()
            plan = await container.plan_batch()(
                use_cases.system_actor(), CreateBatch(action="switch", template="office")
            )
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
            over.set()
            during = await reading
            print(f"plan of {plan.phones:,} phones: {cpu:.1f} s of processor, {wall:.1f} s")
            groups = len(plan.groups)
            print(f"{plan.changed} changed in {groups} group(s), {grown / 1024:.0f} MiB more")
            print(f"p99 of a read: {p99(idle):.2f} ms idle, {p99(during):.2f} ms meanwhile")
            print(plan.groups[0].diff)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--phones", type=int, default=2000)
    asyncio.run(main(arguments.parse_args().phones))
