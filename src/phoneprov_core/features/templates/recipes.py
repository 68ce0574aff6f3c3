"""The records with which a template is rendered for a phone and a user, and the rendering."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, TypeVar

from msgspec import Struct

from phoneprov_core.features.templates.model import (
    LISTS,
    MOST_ELEMENTS,
    OBJECTS,
    Template,
    is_shared,
)
from phoneprov_core.features.templates.use_cases import (
    Renderer,
    TemplateFault,
    TemplateStore,
    TemplateValues,
)
from phoneprov_core.inventory.configuration.well_formed import device_xml_rule
from phoneprov_core.inventory.extensions import Extension
from phoneprov_core.inventory.links import LinkStore
from phoneprov_core.inventory.phone_parts import Kem, KemStore
from phoneprov_core.inventory.phones.model import Phone, bare_model, family_of, software_type_of
from phoneprov_core.inventory.vendor_services import VendorService
from phoneprov_core.kernel.errors import NotFound, require
from phoneprov_core.kernel.fields import SECRET
from phoneprov_core.kernel.ports import Store
from phoneprov_core.kernel.secrets import names_secret
from phoneprov_core.people.users.model import User
from phoneprov_core.switching.deployments.ports import Rendered, RequestPart
from phoneprov_core.switching.errors import NoTemplateFits, TemplateFails


class _Variant(Protocol):
    """What a variant of a template is for."""

    @property
    def model(self) -> str | None: ...
    @property
    def software_type(self) -> str | None: ...


V = TypeVar("V", bound=_Variant)


class LinesOfUsers(Protocol):
    """Stores that the lines of a user are read from."""

    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def links(self) -> LinkStore: ...


class RecipeTransaction(LinesOfUsers, Protocol):
    """Stores that a recipe is read from."""

    @property
    def users(self) -> Store[User]: ...
    @property
    def templates(self) -> TemplateStore: ...
    @property
    def kems(self) -> KemStore: ...
    @property
    def vendor_services(self) -> Store[VendorService]: ...


class Recipe(RequestPart, frozen=True):
    """A template and the records that it is rendered with. ``family`` is the firmware family of
    the phone, as far as is known; ``user`` is None for a phone that belongs to no user yet."""

    template: Template
    phone: Phone
    family: str | None
    user: User | None
    lines: tuple[Extension, ...]
    modules: tuple[Kem, ...]
    services: tuple[VendorService, ...]
    values: Annotated[dict[str, str], SECRET]


async def recipe_for(
    tx: RecipeTransaction, name: str, values: dict[str, str], owner: str, phone: Phone,
    family: str | None,
) -> Recipe:  # fmt: skip
    """The recipe of a template for a phone. ``family`` is the firmware family of the profile.
    Raises ``NotFound`` if template or owner do not exist, ``NoTemplateFits``."""
    variants = await tx.templates.variants(name)
    if not variants:
        raise NotFound(f"There is no template {name}.")
    family = software_type_of(phone, family)
    template = best(variants, phone.model, family)
    if template is None:
        kinds = ", ".join(kind for kind in (phone.model, family) if kind) or "no model is recorded"
        raise NoTemplateFits(f"The template {name} has no variant for this phone ({kinds}).")
    return await recipe_of(tx, template, values, owner, phone, family)


async def recipe_of(
    tx: RecipeTransaction, template: Template, values: dict[str, str], owner: str, phone: Phone,
    family: str | None,
) -> Recipe:  # fmt: skip
    """The recipe of this variant. Raises ``NotFound`` if the owner does not exist."""
    family = software_type_of(phone, family)
    user = require(await tx.users.find(owner), "user")
    lines = await lines_of(tx, owner)
    modules = await tx.kems.rows(MOST_ELEMENTS + 1, owner=phone.mac)
    services = await tx.vendor_services.rows(MOST_ELEMENTS + 1)
    return Recipe(
        template, phone, family, user, tuple(lines), tuple(modules), tuple(services), values
    )


async def lines_of(tx: LinesOfUsers, owner: str) -> list[Extension]:
    """The active extensions of a user, the oldest link first."""
    links = await tx.links.extensions.rows(MOST_ELEMENTS + 1, owner=owner)
    linked = [await tx.extensions.find(link.extension_uuid) for link in links]
    return [one for one in linked if one is not None and one.is_active]


async def recipe_without_user(tx: RecipeTransaction, name: str, phone: Phone) -> Recipe | None:
    """The recipe of a template for a phone that belongs to no user; None if no variant fits."""
    template = best(await tx.templates.variants(name), phone.model, None)
    services = await tx.vendor_services.rows(MOST_ELEMENTS + 1)
    if template is None:
        return None
    return Recipe(template, phone, None, None, (), (), tuple(services), {})


def best(variants: Sequence[V], model: str | None, family: str | None) -> V | None:
    """The variant that fits a phone best: a variant for its model before a variant without a model,
    a variant for its family before a variant without a family. If the family is not known, the only
    one of a model fits."""
    bare, known = bare_model(model or ""), family_of(family)
    for wanted in ([bare] if bare else []) + [None]:
        of_model = [one for one in variants if one.model == wanted]
        for kind in ([known] if known else []) + [None]:
            fitting = [one for one in of_model if one.software_type == kind]
            if fitting:
                return fitting[0]
        if not known and len(of_model) == 1:
            return of_model[0]
    return None


def given_by(recipe: Recipe, base: str) -> TemplateValues:
    """The names of the language. ``base`` is the address of the pages for phones, or empty."""
    phone, user = recipe.phone, recipe.user
    pages = {
        "authentication": f"{base}/phone/authentication",
        "services": f"{base}/phone/services",
        "directory": f"{base}/phone/directories",
    }
    return TemplateValues(
        {
            "phone": {
                **_texts(phone, ("mac", "name", "model", "location")),
                "hex": phone.mac.replace(":", ""),
                "ip": phone.phone_ip or "",
                "vlan": phone.phone_vlan or "",
                "software_type": recipe.family or "",
            },
            "user": _texts(user, OBJECTS["user"]) if user else {},
            "urls": pages if base else {},
        },
        {
            "lines": [
                {
                    **_texts(line, ("name", "password", "type")),
                    "number": line.extension,
                    "voicemail": line.voicemail,
                }
                for line in recipe.lines
            ],
            "modules": [_texts(one, LISTS["modules"]) for one in recipe.modules],
            "services": [_texts(one, LISTS["services"]) for one in recipe.services],
        },
        recipe.values,
        frozenset(name for name in recipe.values if names_secret(name)),
    )


def _texts(record: Struct, names: Iterable[str]) -> dict[str, str]:
    """The fields of a record whose names are in the language; a null field is empty."""
    return {name: getattr(record, name) or "" for name in names}


@dataclass(frozen=True)
class Rendering:
    """Renders recipes. ``base`` is the address of the pages for phones, ``largest`` the maximum
    size of a configuration in bytes."""

    renderer: Renderer
    base: str
    largest: int

    async def __call__(self, recipe: Recipe) -> Rendered:
        """A configuration without a fault. Raises ``TemplateFails``."""
        template = recipe.template
        begin = f"The template {template.label}, revision {template.revision},"
        try:
            rendered = await self.renderer.render(
                template.body, given_by(recipe, self.base.rstrip("/")), self.largest
            )
            device_xml_rule(self.largest)(rendered.text)
        except TemplateFault as fault:
            failure = TemplateFails(
                f"{begin} fails on line {fault.line}, column {fault.column}: {fault.reason}"
            )
            failure.line, failure.column = fault.line, fault.column
            raise failure from None
        except ValueError as error:
            raise TemplateFails(f"{begin} fails: the rendered configuration {error}.") from None
        return rendered


class TemplateUses:
    """The functions of templates for profiles and deployments, which declare them as their own
    ports."""

    def __init__(self, tx: RecipeTransaction) -> None:
        self._tx = tx

    async def is_shared(self, name: str) -> bool | None:
        """Whether users without level 0 make profiles of a template; None if there is none."""
        variants = await self._tx.templates.variants(name)
        return is_shared(variants) if variants else None

    async def recipe(
        self, name: str, values: dict[str, str], owner: str, phone: Phone, family: str | None
    ) -> Recipe:
        """The recipe of a template for a phone. Raises like ``recipe_for``."""
        return await recipe_for(self._tx, name, values, owner, phone, family)
