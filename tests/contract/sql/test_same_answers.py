"""SQLite and PostgreSQL return the same results for the same requests."""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from phoneprov_adapters.sql.engines.transaction import Database, SqlTransaction
from phoneprov_core.features.desks.records import DeskRecord, Due
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.ports import Rate
from phoneprov_core.people.directory.model import TermSearch
from phoneprov_core.people.throttle import Attempts
from phoneprov_core.switching.deployments.model import Outcome, Step, StepName
from support import phone_records, records
from support.kinds import KINDS
from support.phone_records import a_flag, a_kem
from support.records import a_mac, identifier, moment
from support.stores import DATABASES


class Question(NamedTuple):
    """A method, by its path below the transaction, and its arguments."""

    method: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]

    async def ask(self, tx: SqlTransaction) -> Any:
        return await attrgetter(self.method)(tx)(*self.arguments, **self.named)


def asked(
    method: str, *arguments: st.SearchStrategy[Any], **named: st.SearchStrategy[Any]
) -> st.SearchStrategy[Question]:
    return st.builds(Question, st.just(method), st.tuples(*arguments), st.fixed_dictionaries(named))


numbers = st.integers(1, 3)
ids = numbers.map(identifier)
macs = numbers.map(a_mac)
truths = st.booleans()
moments = numbers.map(moment)
texts = st.sampled_from(
    ["a", "A", "\u00e9", "\U0001f4de", "it's 100% $1 :a ?", '"],[\\n\t\n\u2028\x7f', ""]
)
perhaps = st.none() | texts
pages = {"offset": st.integers(0, 2)}

phones = st.builds(
    phone_records.a_phone,
    numbers,
    name=perhaps,
    is_active=truths,
    phone_ip=perhaps,
    created_at=moments,
)
kems = st.builds(a_kem, numbers, model=perhaps, connected_phone=st.none() | macs)
flags = st.builds(a_flag, numbers, vendor=truths)
users = st.builds(lambda number, active: records.a_user(number, is_active=active), numbers, truths)
permissions = st.builds(records.a_permission, numbers, description=perhaps)
assignments = st.builds(records.an_assignment, ids, ids, numbers)
sessions = st.builds(records.a_session, numbers, ids, created_at=st.sampled_from([1000, 6000]))
items = st.sampled_from(["", "a,", "b,"])
attempts = st.builds(Attempts, numbers, *[st.sampled_from([0, 1, 2**40])] * 3)
deployments = st.builds(
    phone_records.a_deployment,
    numbers,
    macs,
    outcome=st.sampled_from(Outcome),
    steps=st.lists(
        st.builds(Step, st.sampled_from(StepName), truths, perhaps, numbers), max_size=2
    ).map(tuple),
    ended_at=st.none() | moments,
)
pins = st.builds(records.a_pin, numbers, ids)
profiles = st.builds(
    phone_records.a_profile, numbers, ids, compatible_models=st.lists(texts).map(tuple)
)
desk_records = st.builds(
    DeskRecord,
    macs,
    default_profile_uuid=st.none() | ids,
    hotdesk=truths,
    version=numbers,
    user_uuid=st.none() | ids,
    profile_uuid=st.none() | ids,
    until=st.none() | moments,
    due=st.none() | st.sampled_from(Due),
    change_uuid=st.none() | ids,
    change_user_uuid=st.none() | ids,
    not_before=numbers,
)
searches = st.sampled_from(
    [
        TermSearch(("n",)),
        TermSearch(("d1",)),
        TermSearch(("wa",)),
        TermSearch(("d", "w")),
        TermSearch(("w", "d4")),
    ]
)
company_contacts = st.builds(records.a_company_contact, numbers, name=texts, is_active=truths)
personal_contacts = st.builds(records.a_personal_contact, numbers, ids, created_at=moments)
extensions = st.builds(
    records.an_extension,
    numbers,
    extension=st.sampled_from(["1001", "1002"]),
    password=texts,
    voicemail_passcode=perhaps,
)
links = st.builds(records.a_link, numbers, ids, ids, created_at=moments)
tokens = st.sampled_from(["t1", "t2", "t3"])
times = st.sampled_from([2000, 4999, 5000, 7000])

RECORDS: dict[str, tuple[st.SearchStrategy[Any], st.SearchStrategy[str]]] = {
    "phones": (phones, macs),
    "kems": (kems, ids),
    "vendor_phones": (flags, macs),
    "users": (users, ids),
    "permissions": (permissions, ids),
    "profiles": (profiles, ids),
    "company_contacts": (company_contacts, ids),
    "personal_contacts": (personal_contacts, ids),
    "extensions": (extensions, ids),
}
for kind in KINDS:
    # A kind without a strategy of its own.
    any_of_kind = st.builds(
        lambda kind, number, created_at, change: kind.make(number, created_at=created_at, **change),
        st.just(kind),
        numbers,
        moments,
        st.sampled_from([{}, kind.change]),
    )
    RECORDS.setdefault(kind.name, (any_of_kind, ids))
OWNED = ["profiles", "personal_contacts", "links.full", "links.extensions"]

questions = st.one_of(
    *(asked(f"{name}.add", record) for name, (record, _) in RECORDS.items()),
    *(asked(f"{name}.put", record) for name, (record, _) in RECORDS.items()),
    *(asked(f"{name}.remove", key) for name, (_, key) in RECORDS.items()),
    *(asked(f"{name}.find", key) for name, (_, key) in RECORDS.items()),
    *(
        asked(f"{name}.rows", numbers, after=st.none() | record, **pages)
        for name, (record, _) in RECORDS.items()
    ),
    *(asked(f"{name}.rows", numbers, owner=ids, **pages) for name in OWNED),
    *(asked(f"{name}.count", ids) for name in OWNED),
    *(asked(f"{name}.count") for name in RECORDS),
    asked("enriched_phones.rows", numbers, **pages),
    asked("users.with_password", numbers.map(lambda number: f"ADA-{number}")),
    asked("users.set_password_hash", ids, texts),
    asked("users.logged_in", ids, texts, moments),
    asked("kems.disconnect", macs),
    asked("vendor_phones.save", flags),
    asked("assignments.assign", assignments),
    asked("assignments.of_user", ids),
    asked("assignments.remove", ids),
    asked("sessions.start", sessions),
    asked("sessions.principal", ids, times),
    asked(
        "sessions.replace_token",
        *(ids, tokens, tokens),
        now=times,
        expires_at=st.sampled_from([5500, 9500]),
    ),
    asked("sessions.find", ids),
    asked("sessions.end", ids),
    asked("sessions.end_every"),
    asked("sessions.end_all", ids, besides=st.none() | ids),
    asked("attempts.begin", texts, attempts),
    asked("attempts.of", texts),
    asked("attempts.keep", texts, attempts),
    asked("attempts.clear", texts),
    asked("login_addresses.familiarity", texts, texts, times),
    asked("login_addresses.remember", ids, texts, times),
    asked("rates.add", texts, st.builds(Rate, st.integers(0, 2), times), times, item=items),
    asked("rates.take_back", texts),
    asked("deployments.add", deployments),
    asked("deployments.put", deployments),
    asked("deployments.find", ids),
    asked("deployments.interrupt_abandoned", moments),
    asked("leases.take", macs, ids, st.sampled_from([0, 60])),
    asked("leases.release", macs, ids, numbers),
    asked("leases.is_held", macs, ids, numbers, even_expired=st.booleans()),
    asked("desks.find", macs),
    asked("desks.at", macs),
    asked("desks.put", desk_records),
    asked("desks.of", user=ids),
    asked("desks.of", default=ids),
    asked("desks.unsettled", moments, numbers, st.integers(1, 3)),
    asked("desks.remove", macs),
    asked("listed_desks.rows", st.integers(1, 3), owner=st.none() | ids),
    asked("company_contacts.search", searches, st.integers(1, 3), after=st.none() | ids),
    asked("users.by_extension", texts),
    asked("vendor_users.of_user", ids),
    asked("vendor_users.save", pins),
    asked("vendor_users.remove", ids),
    asked("links.add", links),
    asked("links.remove", ids),
    asked("links.users.rows", numbers, owner=ids, **pages),
)


class _TakenBack(Exception):
    pass


async def answers_of(database: Database, asked: list[Question], take_back: bool) -> list[Any]:
    """The results of one database for a transaction of calls; an error ends it."""
    answers: list[Any] = []
    try:
        async with database.write() as tx:
            # The transaction has started: a refresh as its first call may be durable at once.
            await tx.users.count()
            for question in asked:
                answer = await question.ask(tx)
                # An addition may fail with the next call.
                await tx.users.count()
                answers.append(answer)
            if take_back:
                raise _TakenBack
    except PhoneprovError as error:
        answers.append((type(error), error.code))
    except _TakenBack:
        pass
    return answers


async def all_records(database: Database) -> list[Any]:
    """Every list of a database."""
    async with database.read() as tx:
        lists = [attrgetter(name)(tx) for name in (*RECORDS, "links.full", "enriched_phones")]
        return [await listed.rows(1000) for listed in lists]


class Both(RuleBasedStateMachine):
    """Transactions of a few calls, some of which are rolled back."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.left = AsyncExitStack()
        self.databases = {name: self._open(name) for name in DATABASES if name != "memory"}
        # Records for most calls.
        beginning = [
            Question("users.add", (records.a_user(1),), {}),
            Question("users.add", (records.a_user(2),), {}),
            Question("permissions.add", (records.a_permission(1),), {}),
            Question("sessions.start", (records.a_session(1, identifier(1)),), {}),
            Question("extensions.add", (records.an_extension(1),), {}),
            Question("phones.add", (phone_records.a_phone(1),), {}),
        ]
        self._same(lambda database: answers_of(database, beginning, False))

    def _open(self, name: str) -> Database:
        folder = Path(self.left.enter_context(tempfile.TemporaryDirectory()))
        return self.runner.run(self.left.enter_async_context(DATABASES[name](folder)))

    def _same(self, ask: Any) -> None:
        answers = {name: self.runner.run(ask(each)) for name, each in self.databases.items()}
        expected = answers.pop("sqlite")
        for name, given in answers.items():
            assert given == expected, name

    @rule(asked=st.lists(questions, min_size=1, max_size=8), take_back=st.booleans())
    def transaction(self, asked: list[Question], take_back: bool) -> None:
        self._same(lambda database: answers_of(database, asked, take_back))

    @invariant()
    def databases_are_equal(self) -> None:
        self._same(all_records)

    def teardown(self) -> None:
        self.runner.run(self.left.aclose())
        self.runner.close()


def test_databases_return_the_same_results_for_any_calls() -> None:
    run_state_machine_as_test(
        Both,
        settings=settings(
            max_examples=10,
            stateful_step_count=10,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
