"""Renderings a second, a plan and a rollout over 2,000 phones: processor time, memory, and the
effect on other requests of the same service. ``python -m bench.questions.rollouts``.

A control, a second service without work, gets the same requests at the same time: what the machine
adds to both is not the plan's."""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from bench.outside import FTP_PASSWORD, FTP_USER, ftp_process, started
from faults.served import Served
from phoneprov_adapters.composition.lifecycle import prepare, running
from phoneprov_adapters.rendering.renderer import render
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import PhoneState
from phoneprov_core.features.batches.ports import BatchLease, claimed, ended
from phoneprov_core.features.batches.results import judge_first
from phoneprov_core.features.templates.model import CreateTemplate, TemplatePatch
from phoneprov_core.features.templates.recipes import Recipe, given_by
from phoneprov_core.inventory.profiles.model import from_template
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Action, Confirmation, Outcome
from phoneprov_core.switching.deployments.order import load_order, new_record
from races.wire import Line
from support.phone_records import a_phone, a_profile, a_revision
from support.postgres import new_database
from support.records import a_link, a_mac, a_user, an_extension, identifier

BODY = (Path(__file__).parents[2] / "examples/templates/7945-sccp.cnf.xml").read_text("utf-8")


async def fill(container: Any, phones: int) -> None:
    """A template, and phones of which each has a profile, a user and a line of its own."""
    use_cases = container.use_cases()
    actor, database = use_cases.system_actor(), container.database()
    deploy = container.deploy()
    made = await use_cases.templates.create(
        actor, CreateTemplate(name="office", body=BODY, shared=True)
    )
    for begin in range(1, phones + 1, 50):
        async with database.write() as tx:
            for number in range(begin, min(begin + 50, phones + 1)):
                user, phone = a_user(number), a_phone(number, phone_ip="127.0.0.1")
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
                order = await deploy.texts(order)
                record = new_record(
                    order, identifier(number), actor.user_uuid, deploy.filename(phone),
                    timestamp(container.clock()()),
                )  # fmt: skip
                record = _placed(record)
                await tx.leases.take(phone.mac, record.uuid, 0)
                await tx.deployments.add(record)
                await tx.renderings.keep(record, order.source.rendered, [])
    body = BODY.replace("SCCP45.9-4-2SR3-1S", "SCCP45.9-4-2SR4-2S")
    await use_cases.templates.update(actor, made.uuid, TemplatePatch(body=body))


def _placed(record: Any) -> Any:
    return msgspec.structs.replace(
        record, number=1, place="served/x", outcome=Outcome.DEPLOYED, restart="ok"
    )


class Taken(NamedTuple):
    """Milliseconds of reads of the service, and of the control."""

    service: list[float]
    control: list[float]

    def __str__(self) -> str:
        return f"{p99(self.service):.1f} ms (control {p99(self.control):.1f} ms)"

    def times(self, before: "Taken") -> str:
        """The p99 as a multiple of the one before."""
        service = p99(self.service) / p99(before.service)
        control = p99(self.control) / p99(before.control)
        return f"{service:.1f} times, control {control:.1f} times"


class Reader:
    """Reads one phone over HTTP of the service and of the control in turn."""

    def __init__(self, *services: tuple[Line, str]) -> None:
        self._services = services

    async def during(self, work: Awaitable[Any]) -> tuple[Any, Taken]:
        """The result of some work, and the reads meanwhile."""
        task = asyncio.ensure_future(work)
        taken = Taken([], [])
        while not task.done():
            for (line, token), times in zip(self._services, taken, strict=True):
                began = time.perf_counter()
                reply = await line.ask("GET", f"/phones/{a_mac(1)}", token=token)
                times.append((time.perf_counter() - began) * 1000)
                assert reply.status == 200
            await asyncio.sleep(0.002)
        return await task, taken


def p99(taken: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(taken, n=100)[98]


def processor(pid: int) -> float:
    """Seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int, name: str) -> int:
    """KiB of a process: ``VmRSS`` now, ``VmHWM`` at most."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(name)).split()[1])


async def renderings(container: Any) -> float:
    """Renderings of the example a second of processor time."""
    async with container.database().read() as tx:
        profile = await tx.profiles.find(identifier(1))
        phone = await tx.phones.find(a_mac(1))
        order = await load_order(tx, Action.SWITCH, profile, phone)
    assert order is not None
    recipe = order.part(Recipe)
    assert recipe is not None
    given = given_by(recipe, "http://pbx.example.com")
    render(BODY, given, 10**6)
    began, count = time.process_time(), 2000
    for _ in range(count):
        render(BODY, given, 10**6)
    return count / (time.process_time() - began)


async def judging(container: Any) -> float:
    """Milliseconds of one judgement of 1,000 first phones that are pending."""
    use_cases, count = container.use_cases(), 1000
    macs = tuple(a_mac(number) for number in range(1, count + 1))
    new = CreateBatch(action="switch", macs=macs, first=count, first_minutes=1440)
    later = timestamp(container.clock()() + timedelta(days=1))
    new = msgspec.structs.replace(new, start_at=later)
    batch = await use_cases.batches.start(use_cases.system_actor(), new)
    now = timestamp(container.clock()())
    async with container.database().write() as tx:
        for claim in await _claims(tx, batch.uuid, count):
            record = await tx.deployments.current(claim.mac)
            uuid = claim.attempt_uuid
            record = msgspec.structs.replace(
                record, uuid=uuid, number=1000, confirmation=Confirmation.PENDING,
                confirmation_by=later,
            )  # fmt: skip
            await tx.deployments.add(record)
            await tx.batches.move(claim, ended(PhoneState.DONE, now, deployment_uuid=uuid))
    began, times = time.perf_counter(), 50
    for _ in range(times):
        async with container.database().write() as tx:
            assert await judge_first(tx, batch, container.clock()(), container.new_id()) is None
    return (time.perf_counter() - began) / times * 1000


async def _claims(tx: Any, batch_uuid: str, count: int) -> Any:
    hold = BatchLease(batch_uuid, "", 0)
    return await tx.batches.claim(hold, count, claimed(hold, "2026-01-31T08:15:30.000Z"))


async def measure(served: Served, control: Served, phones: int, *, rollout: bool) -> None:
    """Print the figures of a service."""
    token, of_control = await served.token(), await control.token()
    async with served.line() as reading, served.line() as line, control.line() as idle_line:
        await idle_line.ask("POST", "/phones", {"mac": a_mac(1)}, token=of_control)
        reader = Reader((reading, token), (idle_line, of_control))
        await reader.during(asyncio.sleep(1))
        _, idle = await reader.during(asyncio.sleep(4))
        cpu, began = processor(served.pid), time.perf_counter()
        resident = memory(served.pid, "VmRSS")
        Path(f"/proc/{served.pid}/clear_refs").write_text("5")  # the highest is that of now
        wanted: dict[str, Any] = {"action": "switch", "template": "office"}
        reply, during = await reader.during(line.ask("POST", "/batches/plan", wanted, token=token))
        plan = reply.data
        wall, cpu = time.perf_counter() - began, processor(served.pid) - cpu
        grown = (memory(served.pid, "VmHWM") - resident) / 1024
        print(
            f"{served.name}: plan of {plan['phones']:,} phones: {cpu:.1f} s of processor with "
            f"the reads, {wall:.1f} s; {len(plan['groups'])} group(s), {grown:.0f} MiB more"
        )
        print(
            f"  p99 of a read over HTTP: {idle} idle, {during} during the plan "
            f"({during.times(idle)})"
        )
        began = time.perf_counter()
        work = line.ask("POST", "/batches/rehearse", wanted, token=token)
        reply, during = await reader.during(work)
        rehearsal, wall = reply.data, time.perf_counter() - began
        print(
            f"  rehearsal of {rehearsal['phones']:,} phones: {wall:.1f} s for "
            f"{rehearsal['seconds']:.0f} s; p99 of a read {during} ({during.times(idle)})"
        )
        if not rollout:
            return
        plan_wanted, wanted = wanted, {**wanted, "at_once": 10, "undo_on_stop": True}

        async def rolled_out() -> Any:
            uuid = (await line.ask("POST", "/batches", wanted, token=token)).data["uuid"]
            while True:
                batch = (await line.ask("GET", f"/batches/{uuid}", token=token)).data
                if batch["ended_at"]:
                    return batch
                await asyncio.sleep(0.5)

        cpu, began = processor(served.pid), time.perf_counter()
        task = asyncio.ensure_future(rolled_out())
        _, alone = await reader.during(asyncio.sleep(5))
        async with served.line() as planning:
            planned = time.perf_counter()
            work = planning.ask("POST", "/batches/plan", plan_wanted, token=token)
            _, both = await reader.during(work)
            planned = time.perf_counter() - planned
        batch, during = await reader.during(task)
        during = Taken(during.service + alone.service, during.control + alone.control)
        wall, cpu = time.perf_counter() - began, processor(served.pid) - cpu
        print(
            f"  a plan during the rollout: {planned:.1f} s; p99 of a read {both}, {alone} with the "
            f"rollout alone ({both.times(alone)}; of idle {both.times(idle)})"
        )
        if batch["phones"]["done"] < phones:
            path = f"/batches/{batch['uuid']}/phones?limit=1"
            print((await line.ask("GET", path, token=token)).data, batch["message"])
        print(
            f"  rollout: {batch['phones']['done']:,} of {phones:,} done in {wall:.0f} s, "
            f"{cpu:.0f} s of processor; p99 {during} ({during.times(idle)})"
        )


async def prepare_fleet(served: Served, phones: int) -> None:
    """Fill the database of a service that does not run."""
    await migrate.upgrade(served.database_url)
    container = prepare(served.settings)
    async with running(container):
        await fill(container, phones)
        print(f"{served.name}: {await renderings(container):,.0f} renderings a second")


async def judge(served: Served) -> None:
    """Print the figure of a database whose service does not run."""
    container = prepare(served.settings)
    async with running(container):
        print(f"{served.name}: {await judging(container):.1f} ms to judge 1,000 first phones")


def main(phones: int, database: str, *, rollout: bool) -> None:
    """Fill a database, and measure a service with it."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        (Path(folder) / "ftp" / "batch").mkdir(parents=True)
        made = new_database() if database == "postgresql" else None
        url = runner.run(made.__aenter__()) if made else None
        served = Served(Path(folder), url)
        (Path(folder) / "control").mkdir()
        control = Served(Path(folder) / "control")
        try:
            runner.run(prepare_fleet(served, phones))
            with started(ftp_process, str(Path(folder) / "ftp")) as port:
                served.environment |= {
                    "PHONEPROV_FTP_HOST": "127.0.0.1", "PHONEPROV_FTP_PORT": str(port),
                    "PHONEPROV_FTP_USER": FTP_USER, "PHONEPROV_FTP_PASSWORD": FTP_PASSWORD,
                    "PHONEPROV_RESTART": "none", "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
                }  # fmt: skip
                served.start()
                control.start()
                runner.run(measure(served, control, phones, rollout=rollout))
                served.kill()
            if phones >= 1000:
                runner.run(judge(served))
        finally:
            served.kill()
            control.kill()
            if made:
                runner.run(made.__aexit__(None, None, None))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--phones", type=int, default=2000)
    arguments.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    arguments.add_argument("--no-rollout", action="store_true")
    given = arguments.parse_args()
    main(given.phones, given.database, rollout=not given.no_rollout)
