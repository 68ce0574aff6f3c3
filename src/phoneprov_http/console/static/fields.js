/** The fields of every record, once, as forms show them. */

import { texts } from "./texts.js";
import { labels } from "./texts/frame.js";

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {"text" | "password" | "number" | "email" | "checkbox" | "area" | "list" | "datetime-local"} [kind]
 * @property {boolean} [isRequired]
 * @property {[string, string][]} [choices]
 * @property {string} [empty] what no choice means
 * @property {string} [hint]
 * @property {string} [autocomplete]
 */

/** @param {string} name @param {Partial<Field>} [more] @returns {Field} */
export const field = (name, more = {}) => ({ name, label: labels[name], ...more });
/** @param {string} name @param {Partial<Field>} [more] */
const required = (name, more) => field(name, { isRequired: true, ...more });
/** @param {string} name */
const checkbox = (name) => field(name, { kind: "checkbox" });
const description = field("description", { kind: "area" });

/** @type {[string, string][]} */
export const SOFTWARE_TYPES = [
  ["SCCP", "SCCP"],
  ["SIP", "SIP"],
  ["SIPE", "SIPE"],
];

/** @type {[string, string][]} */
export const EXTENSION_TYPES = ["chan_sccp", "chan_pjsip", "chan_sip", "custom"].map((one) => [one, one]);

const PHONE = [
  required("mac"),
  ...["name", "brand", "model", "phone_ip", "location", "hostname", "phone_vlan"].map((one) => field(one)),
  ...["software_type", "software_version"].map((one) => field(one)),
  description,
  checkbox("is_active"),
];

/** The fields of a phone that the caller may write. @param {boolean} isAdmin */
export const phoneFields = (isAdmin) => PHONE.filter(({ name }) => isAdmin || name !== "phone_ip");

export const USER = [
  required("first_name"),
  required("last_name"),
  required("username"),
  required("email", { kind: "email" }),
  field("password", { kind: "password", autocomplete: "new-password", hint: texts.passwordHint }),
  ...["phone", "location", "nationality", "lang", "timezone"].map((one) => field(one)),
  checkbox("is_active"),
];

export const JOINER = [
  required("first_name"),
  required("last_name"),
  required("username"),
  required("email", { kind: "email" }),
  field("block", { hint: texts.blockHint }),
  field("number", { hint: texts.numberHint }),
  field("extension_type", { label: texts.extensionType, choices: EXTENSION_TYPES, empty: texts.ofThePhone }),
  ...["department", "location"].map((one) => field(one)),
  checkbox("pin"),
  checkbox("directory"),
];

export const EXTENSION = [
  required("extension"),
  required("name"),
  required("type", { choices: EXTENSION_TYPES }),
  field("password", { kind: "password", hint: texts.lineSecretHint, autocomplete: "new-password" }),
  description,
  checkbox("voicemail"),
  field("voicemail_passcode"),
  checkbox("is_active"),
];

export const PERMISSION = [
  required("name"),
  required("level", { kind: "number", hint: texts.levelHint }),
  description,
];

export const MODULE = ["mac", "model", "connected_phone", "ip", "software_version", "software_type"].map(
  (one) => field(one),
);

export const LOCATION = [
  required("name", { hint: texts.locationNameHint }),
  field("emergency_number", { hint: texts.emergencyHint }),
  field("emergency_place", { hint: texts.emergencyHint }),
];

export const FLAG = [required("mac"), checkbox("vendor")];

export const SERVICE = [field("name"), field("url", { hint: texts.urlHint }), field("type")];

export const PERSONAL_CONTACT = [
  required("name"),
  ...["work", "mobile", "home"].map((one) => field(one)),
  field("email", { kind: "email" }),
  field("ringtone"),
];

export const COMPANY_CONTACT = [
  ...PERSONAL_CONTACT,
  ...["department", "company", "location", "building"].map((one) => field(one)),
  checkbox("is_active"),
];

export const PROFILE = [
  required("name"),
  description,
  field("compatible_models", { kind: "list", hint: texts.modelsHint }),
  field("software_type", { choices: SOFTWARE_TYPES, empty: texts.any }),
];

export const TEMPLATE = [
  required("name", { hint: texts.templateNameHint }),
  field("model", { hint: texts.variantHint }),
  field("software_type", { choices: SOFTWARE_TYPES, empty: texts.any }),
  description,
  field("shared", { kind: "checkbox", hint: texts.sharedHint }),
];

export const TOKEN = [
  required("name", { hint: texts.tokenNameHint }),
  field("expires_at", { kind: "datetime-local", hint: texts.expiresHint }),
  field("read_only", { kind: "checkbox" }),
];

export const PASSWORD = [
  required("current_password", { kind: "password", autocomplete: "current-password" }),
  required("password", {
    label: texts.newPassword,
    kind: "password",
    autocomplete: "new-password",
    hint: texts.ownPasswordHint,
  }),
  checkbox("end_tokens"),
];

export const PIN = [required("pin_code", { kind: "password", hint: texts.pinHint })];

export const ROLLOUT = [
  field("start_at", { kind: "datetime-local" }),
  field("first", { kind: "number", hint: texts.firstHint }),
  field("first_minutes", { kind: "number" }),
  field("undo_on_stop", { kind: "checkbox" }),
  field("only_changed", { kind: "checkbox" }),
  field("newest", { kind: "checkbox", hint: texts.newestHint }),
];

export const BATCH_PACE = [
  field("at_once", { kind: "number" }),
  field("per_minute", { kind: "number", hint: texts.perMinuteHint }),
  field("stop_after_failures", { kind: "number", hint: texts.stopAfterHint }),
  field("wait_minutes", { kind: "number" }),
];
