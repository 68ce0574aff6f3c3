/** Texts of the frame, of lists and of forms. */

import { labels } from "../labels.js";

const number = new Intl.NumberFormat();

export const frame = {
  navigation: "Main",
  menu: "Menu",
  findPhone: "Find a phone",
  findAnything: "Find a phone or person",
  phoneOrPerson: "Phone or person",
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
  connectHint: "Connect this account with you at the provider, to sign in there from now on.",
  isConnected: "This account is connected with the provider.",
  signInResults: {
    connected: "The account is connected with the provider.",
    sign_in_expired: "This sign-in has expired; sign in again.",
    sign_in_refused: "The sign-in was refused.",
    not_a_member: "You are not a member of the group that may sign in.",
    too_many_groups: "The provider left your groups out, because there are too many; an administrator can limit them.",
    not_linked: "No account is connected with you; sign in with a password and connect it, or ask an administrator.",
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
  wrongInput: "Nothing was saved: some input is not accepted.",
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
  newestRows: (count) => `The newest ${number.format(count)} rows`,
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
  exported: (count) => `${number.format(count)} rows exported.`,
  selectAll: "Select all",
  /** @param {string} what */
  select: (what) => `Select ${what}`,
  /** @param {number} count */
  selected: (count) => `${number.format(count)} selected`,
  next: "Next step",
  byLocation: "By location",
  more: "Show more",

  // Fields
  levelHint: "With the usual level rule, any permission makes a superadmin.",
  lineSecretHint: "Required for a new extension. Leave empty to keep it.",
  passwordHint: "Leave empty to keep it.",
  urlHint: "http, https, or an address that phones understand, such as Key:Services.",
  pinHint: "4 to 32 digits.",
  modelsHint: "Separated by commas. Empty means all models.",
  perMinuteHint: "Leave empty for no limit.",
  shared: labels.shared,
  newest: labels.newest,
  sharedHint: "Users without level 0 may make profiles of it, and read what it gives for them.",
  newestHint: "Without it, phones whose profile or template changes meanwhile are left alone.",
  stopAfterHint: "Leave empty to go on in any case.",

  account: "Account",
  service: "Service",
  version: "Version",
  state: "State",
  older: "Show older rows",
};
