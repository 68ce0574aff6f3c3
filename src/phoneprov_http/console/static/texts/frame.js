/** Labels of the API's fields, and texts of the frame, of lists and of forms. */

// The label of each field of the API in the console: in forms, in problems, in the audit trail.

/** @type {Record<string, string>} */
export const labels = {
  mac: "MAC address",
  macs: "MAC addresses",
  name: "Name",
  brand: "Brand",
  model: "Model",
  description: "Description",
  hostname: "Host name",
  location: "Location",
  emergency_number: "Emergency number",
  emergency_place: "Emergency place",
  phone_ip: "IP address",
  address_confirmed: "Address confirmed",
  phone_vlan: "VLAN",
  software_type: "Software type",
  software_version: "Software version",
  is_active: "Active",
  ip: "IP address",
  connected_phone: "Connected phone",
  first_name: "First name",
  last_name: "Last name",
  username: "Username",
  email: "Email",
  password: "Password",
  current_password: "Current password",
  issuer: "Issuer",
  subject: "Subject",
  end_tokens: "End my API tokens, too",
  phone: "Telephone",
  nationality: "Nationality",
  lang: "Language",
  timezone: "Time zone",
  extension: "Extension",
  type: "Type",
  voicemail: "Voicemail",
  voicemail_passcode: "Voicemail passcode",
  level: "Level",
  url: "Address",
  pin_code: "New PIN",
  work: "Work",
  mobile: "Mobile",
  home: "Home",
  ringtone: "Ringtone",
  department: "Department",
  company: "Company",
  building: "Building",
  perm_uuid: "Permission level",
  profile_uuid: "Profile",
  default_profile_uuid: "Default profile",
  default_profile: "Default profile",
  default_profile_user: "Owner of the default profile",
  hotdesk: "Users may log in",
  ends_at: "Logins end at",
  number: "Number",
  block: "Next free number of a block",
  pin: "Make a PIN",
  directory: "Add to the company directory",
  hand_over_to: "Hand the numbers over to (username)",
  user_uuid: "User",
  extension_uuid: "Extension",
  compatible_models: "Compatible models",
  cnf_xml: "Configuration",
  revision: "Revision",
  vendor: "Vendor phone",
  csv: "CSV text",
  xlsx: "Excel file",
  token: "API token",
  action: "Action",
  at_once: "Phones at a time",
  per_minute: "Maximum phones started per minute",
  stop_after_failures: "Stop after this percentage of failures",
  start_at: "Start at",
  first: "First phones",
  first_minutes: "Minutes to wait for the first phones",
  undo_on_stop: "If it stops, put back what was on each phone",
  only_changed: "Only phones whose configuration changes",
  newest: "Later changes too",
  shared: "Shared with users",
  wait_minutes: "Minutes to wait for a phone that is in a call",
  sessions: "Sessions",
  expires_at: "Valid until",
  read_only: "Only reads",
  body: "Template",
  template: "Template",
  values: "Values",
  since: "From",
  until: "Until",
  at: "Moment",
  as_of: "Moment",
};

/** The locale of numbers and times: the browser's variant of English, else British English. */
export const language = globalThis.navigator?.languages?.find((one) => /^en\b/.test(one)) ?? "en-GB";
export const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "long" });

/** A sentence of the server, with the console's labels for fields and local times.
 * @param {string} text */
export const inWords = (text) =>
  text
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => (name in labels ? inSentence(labels[name]) : name))
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.]*Z/g, (iso) => moment.format(new Date(iso)));

/** @param {string} label */
const inSentence = (label) => (/^[A-Z]{2}/.test(label) ? label : label.toLowerCase());

/** @param {string} field @returns {string} */
export function labelOf(field) {
  const row = /^lines\[(\d+)\]\.?(.*)$/.exec(field);
  // In line 1 the columns are named as in the API.
  if (row) return [`Line ${row[1]}:`, row[1] === "1" ? row[2] : row[2] && labelOf(row[2])].filter(Boolean).join(" ");
  const [name] = field.replace(/_uuid$/, "").split(/[.[]/);
  return labels[field] ?? labels[name] ?? name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());
}

// Texts of the frame, of lists and of forms.

const number = new Intl.NumberFormat(language);

export const frame = {
  navigation: "Main",
  menu: "Menu",
  findPhone: "Find a phone",
  findAnything: "Find a phone or person",
  phoneOrPerson: "Name or number",
  suggestions: "Suggestions",
  /** @param {number | null} people null if people are not searched @param {number} phones
   * @param {string} best name of the record that Enter opens */
  suggested: (people, phones, best) =>
    [
      people === null ? "" : `${people} ${people === 1 ? "person" : "people"}, `,
      `${phones} ${phones === 1 ? "phone" : "phones"}.`,
      best && ` Enter opens ${best}.`,
    ].join(""),
  /** @param {string} name of a phone */
  isAt: (name) => `at ${name}`,
  /** @param {string} list @param {string} q @param {boolean} isAny */
  allWith: (list, q, isAny) => (isAny ? `${list} with “${q}”` : `No ${list.toLowerCase()} with “${q}”`),
  numberOf: "Number",
  person: "Person",
  profileIsOn: "Profile is on",
  /** @param {string} numbers */
  yourNumber: (numbers) => `Your number: ${numbers}.`,
  who: "Who",
  overview: "Overview",
  phones: "Phones",
  deployments: "Deployments",
  desks: "Desks",
  batches: "Batches",
  profiles: "Profiles",
  people: "People",
  directory: "Directory",
  audit: "Audit",
  signIn: "Sign in",
  signOut: "Sign out",
  provider: "Sign-in provider",
  connect: "Connect",
  connectHint: "Connect this account with your account at the provider, to sign in with the provider from now on.",
  isConnected: "This account is connected with the provider.",
  signInResults: {
    connected: "The account is connected with the provider.",
    sign_in_expired: "This sign-in has expired; sign in again.",
    sign_in_refused: "The sign-in was refused.",
    not_a_member: "You are not a member of the group that may sign in.",
    too_many_groups: "The provider left your groups out, because there are too many; an administrator can limit them.",
    not_linked: "No account here is connected with your account at the provider; sign in with a password and connect them, or ask an administrator.",
    provider_unavailable: "The sign-in provider cannot be reached; sign in with a password.",
    too_many_attempts: "Too many sign-ins from this address failed; try again in 15 minutes.",
  },
  username: "Username",
  password: "Password",
  signInHint: "Phone provisioning",
  help: "Documentation",
  noHelp: "This page is not part of the console. It is in the documentation of phoneprov.",
  helpOfConsole: "How to use the console",
  apiDocs: "The HTTP interface",
  sessionEnded: "Your session has ended",
  sessionEndedHint: "Sign in again to continue. Nothing on this page is lost.",
  shortcuts: "Keyboard shortcuts",
  keysRows: "Next or previous row of a list",
  keysOpen: "Open the row",
  close: "Close",
  cancel: "Cancel",
  save: "Save",
  create: "Create",
  remove: "Delete",
  edit: "Edit",
  none: "None",
  any: "Any",
  choose: "Choose…",
  /** @param {string} what */
  chooseFirst: (what) => `Choose a ${what.toLowerCase()} first.`,
  /** @param {string} what */
  find: (what) => `Search: ${what.toLowerCase()}`,
  yes: "Yes",
  no: "No",
  required: "required",
  search: "Search",
  loading: "Loading…",
  failed: "This page could not be shown",
  notFound: "Page not found",
  notFoundHint: "Choose a page from the navigation.",
  notAvailable: "Not available",
  needsLevel0: "This page needs permission level 0.",
  wrongInput: "Some input is not accepted; nothing was changed.",
  connectionLost: "The connection to the server was lost. It is not known whether the request arrived.",
  connectionIsLost: "Connection lost. Trying again…",
  connectionRestored: "Connection restored.",
  discardChanges: "Discard your unsaved changes?",
  /** @param {number} status */
  noEnvelope: (status) => `The server answered ${status} without a message.`,
  /** @param {string} error */
  unexpected: (error) => `Unexpected error: ${error}`,
  /** @param {string} what */
  saved: (what) => `${what} saved.`,
  /** @param {number} count */
  shownLater: (count) => `${number.format(count)} ${count === 1 ? "phone shows" : "phones show"} it after the next restart.`,
  /** @param {string} what */
  created: (what) => `${what} created.`,
  /** @param {string} what */
  deleted: (what) => `${what} deleted.`,
  /** @param {string} name */
  deleteQuestion: (name) => `Delete ${name}?`,

  // Lists
  noRows: "Nothing found.",
  noMatch: "Nothing matches the search and the filters.",
  /** @param {number} total */
  rowCount: (total) => (total === 1 ? "1 row" : `${number.format(total)} rows`),
  /** @param {number} count */
  newestRows: (count) => (count === 1 ? "The newest row" : `The newest ${number.format(count)} rows`),
  /** @param {number} total */
  moreThan: (total) => `More than ${number.format(total)} rows`,
  clear: "Clear",
  filters: "Filters",
  /** @param {number} count */
  filtersUsed: (count) => (count === 0 ? "Filters" : `Filters (${count})`),
  savedFilters: "Saved filters",
  nameOfFilters: "Name for the current filters",
  saveFilters: "Save filters",
  /** @param {string} name */
  forgetFilters: (name) => `Delete the saved filters ${name}`,
  refresh: "Refresh",
  /** @param {string} list */
  refreshed: (list) => `${list} refreshed.`,
  columns: "Columns",
  exportCsv: "Export CSV",
  /** @param {number} count */
  exported: (count) => `${count === 1 ? "1 row" : `${number.format(count)} rows`} exported.`,
  selectAll: "Select all",
  /** @param {string} what */
  select: (what) => `Select ${what}`,
  /** @param {number} count */
  selected: (count) => `${number.format(count)} selected`,
  byLocation: "By location",

  // Fields
  levelHint: "With the default level rule, every permission gives all rights (superadmin).",
  lineSecretHint: "Required for a new extension. Leave empty to keep the password.",
  passwordHint: "Leave empty to keep the password.",
  urlHint: "http, https, or an address that phones understand, such as Key:Services.",
  pinHint: "4 to 32 digits.",
  modelsHint: "Separated by commas. Empty means all models.",
  perMinuteHint: "Leave empty for no limit.",
  shared: labels.shared,
  newest: labels.newest,
  sharedHint: "Users without level 0 may use the template for profiles, and read its rendered text.",
  newestHint: "If not set, phones whose profile or template changes meanwhile are skipped.",
  stopAfterHint: "Leave empty to never stop.",

  account: "Account",
  service: "Service",
  version: "Version",
  state: "State",
  older: "Show older rows",
};
