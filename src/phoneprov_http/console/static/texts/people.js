/** Texts of people, extensions, directories, import and audit. */

import { labels } from "./frame.js";

const number = new Intl.NumberFormat();

export const people = {
  newUser: "New user",
  noUsers: "There are no accounts that match.",
  email: labels.email,
  lastLogin: "Last login",
  permission: "Permission level",
  extension: "Extension",
  extensions: "Extensions",
  type: "Type",
  newExtension: "New extension",
  noExtensions: "There are no extensions yet. Create one, or import a table.",
  noServicesYet: "There are no services yet. A service becomes an entry in the menu of the phones.",
  linkedTo: "Linked to",
  permissions: "Permission levels",
  newPermission: "New permission level",
  level: "Level",
  services: "Phone services",
  newService: "New service",
  url: "Address",
  unnamed: "Unnamed",
  link: "Link extension",
  /** @param {string} extension */
  linked: (extension) => `Extension ${extension} linked.`,
  /** @param {string} extension */
  unlinked: (extension) => `Extension ${extension} unlinked.`,
  unlink: "Remove link",
  /** @param {string} extension */
  unlinkQuestion: (extension) => `Remove the link to extension ${extension}?`,
  noLinks: "No extension is linked.",
  /** @param {string} username */
  deleteUserQuestion: (username) =>
    `Delete ${username} with all links, profiles, contacts, PIN and sessions?`,
  pin: "PIN",
  /** @param {string} name */
  pinOf: (name) => `PIN of ${name}`,
  right: "Right",
  helpdesk: "Helpdesk",
  rightLocations: "Locations of the right",
  rightHint: "One location per line, such as Berlin or Berlin/3. Empty: the right is for all phones.",
  /** @param {string} name */
  rightOf: (name) => `Right of ${name}`,
  findPerson: "Find a person",
  findPersonHint: "Name, username or e-mail address",
  noPersonFound: "No person was found.",
  phonesInUse: "Phones in use",
  noPhoneInUse: "No user is logged in at a phone in your scope.",
  /** @param {readonly string[]} locations */
  helpsAt: (locations) =>
    locations.length === 0 ? "You help at all phones." : `You help at phones in ${locations.join(", ")}.`,
  openLock: "Open the lock after wrong PINs",
  hasPin: "Is set.",
  hasNoPin: "Is not set: no phone accepts a login.",
  wrongPins: "Wrong PINs",
  notLocked: "not locked",
  lockedForGood: "locked until the lock is opened",
  /** @param {number} seconds */
  lockedFor: (seconds) => `locked for ${number.format(seconds)} s`,
  /** @param {number} failures @param {string} lock */
  wrongPinsSaid: (failures, lock) => (failures === 0 ? "None." : `${number.format(failures)} in a row, ${lock}.`),
  note: "Note",
  /** @param {boolean} isNew */
  editNote: (isNew) => (isNew ? "Add a note" : "Change the note"),
  noteHint: "One line. Searches find it.",
  nextSteps: "Next",
  lockOpened: "The lock is open.",
  switchTo: "Switch a phone to it",
  /** @param {string} name */
  levelOf: (name) => `Permission level of ${name}`,
  removePin: "Remove the PIN",
  /** @param {string} name */
  removePinQuestion: (name) => `Remove the PIN of ${name}? Phones then refuse the login.`,
  atPhone: "At phone",
  atNoPhone: "Logged in at no phone.",
  newContact: "New contact",
  noContacts: "There are no contacts yet.",
  companyDirectory: "Company directory",
  personalDirectory: "Personal directory",
  work: labels.work,
  mobile: labels.mobile,
  home: labels.home,
  department: labels.department,
  newPassword: "New password",
  ownPasswordHint: "Your other sessions end.",
  passwordSaved: "Your password is changed. Your other sessions have ended.",
  passwordSavedTokensEnded: "Your password is changed. Your other sessions and your API tokens have ended.",

  // Joiners and leavers
  joiner: "Joiner",
  leaver: "Leaver",
  joinTitle: "A person joins",
  leaveTitle: "A person leaves",
  joinHint: "Creates account, number, PIN, profile, desk and directory entry together. The preview writes nothing.",
  leaveHint:
    "Ends logins, sessions and API tokens, frees or hands over the numbers, hides the directory entry and deactivates the account. The preview writes nothing.",
  joinNow: "Let join",
  leaveNow: "Let leave",
  peopleTable: "Several people, from a file or a table",
  joinTable:
    "Used instead of the person above. The first line names the columns: first_name, last_name, username and email; optional columns are number, mac, department and others. Block, template, PIN and directory above are used where the table has no value.",
  leaveTable: "Used instead of the person above. The first line names the columns: username, and optionally hand_over_to.",
  blockHint: "The smallest free number, such as 300-349.",
  numberHint: "A particular number instead of the next one of the block.",
  extensionType: "Type of the number",
  ofThePhone: "As the desk needs it",
  handOver: "Hand the numbers over to",
  numbersFree: "No person: they become free",
  emptyConfiguration: "An empty configuration",
  moreFields: "More: department, location, type of the number, PIN, directory",
  vacant: "Default profile of the desks that are left",
  noProfile: "No profile",
  previewTitle: "Preview: nothing was written",
  number_: labels.number,
  actSteps: "Steps",
  another: "Another act",
  stepOutcomes: /** @type {Record<string, string>} */ ({
    done: "Done",
    unchanged: "No change",
    kept: "Stays",
    pending: "Later",
    failed: "Failed",
  }),
  stepsForetold: /** @type {Record<string, string>} */ ({
    done: "Would be done",
    unchanged: "No change",
    kept: "Would stay",
    pending: "Would follow",
  }),
  pinsOnce: "The PINs are shown once. Print them now, or write them down.",
  print: "Print",
  undoAct: "Undo",
  undoTitle: "Undo an act",
  tryAgain: "Try again",
  /** @param {string} mac @param {string} profile */
  hasProfile: (mac, profile) => `${mac} has the profile ${profile}.`,

  // Sessions
  sessions: labels.sessions,
  access: "Sessions and API tokens",
  signedIn: "Signed in",
  renewed: "Last renewed",
  endsUnused: "Ends if not renewed",
  endsLatest: "Ends at the latest",
  thisSession: "This session",
  endSession: "End",
  /** @param {string} time */
  sessionSince: (time) => `Session since ${time}`,
  /** @param {string} session */
  endQuestion: (session) => `End the ${session.replace(/^S/, "s")}?`,
  /** @param {string} session */
  ended_: (session) => `${session} ended.`,
  noSessions: "No session is open.",

  // Identities at providers
  issuer: labels.issuer,
  subject: labels.subject,
  disconnect: "Disconnect",
  /** @param {string} issuer */
  disconnectQuestion: (issuer) => `Disconnect this account from the person at ${issuer}? The other sessions of the account end.`,
  /** @param {string} issuer */
  disconnected: (issuer) => `Disconnected from ${issuer}. The other sessions have ended.`,

  // API tokens
  token: labels.token,
  tokens: "API tokens",
  newToken: "New token",
  tokensHint: "A script can use a token instead of your password. It cannot change passwords, PINs and tokens.",
  noTokens: "There are no API tokens.",
  tokenNameHint: "What the token is for.",
  tokenOnce: "Copy the token now: it is not shown again",
  deleteTokenHint: "Scripts that use it are refused at once.",
  rights: "Access",
  readOnly: "Read",
  readAndWrite: "Read and write",
  expires: labels.expires_at,
  expiresHint: "Leave empty for a token without an end.",
  lastUsed: "Last used",
  created_: "Created",
  never: "Never",
  noEnd: "No end",
  copy: "Copy",
  copied: "Copied.",
  notCopied: "The browser does not allow copying: press Ctrl+C.",

  // Import
  import_: "Import",
  recordKinds: /** @type {Record<string, string>} */ ({
    api_token: "API token",
    bulk_edit: "Edit of many records",
    identity: "Identity at a provider",
    kem: "Key expansion module",
    location: "Location",
    people_act: "Joiners and leavers",
    phone: "Phone",
    vendor_phone: "Vendor flag",
    vendor_service: "Phone service",
    vendor_user: "PIN",
  }),

  importTitle: "Import a table",
  importHint:
    "Choose a CSV or Excel file (.xlsx) whose first line names the columns, or paste CSV text. Of an Excel file the first sheet is read. A row that names an existing record changes it, any other row creates one. Nothing is deleted.",
  kind: "Kind of records",
  kinds: /** @type {Record<string, string>} */ ({
    phones: "Phones",
    users: "Users",
    pins: "PINs",
    extensions: "Extensions",
    "user-extensions": "Extensions of users",
    desks: "Desks",
    kems: "Key expansion modules",
    locations: "Locations",
    "company-directory": "Company directory",
    "personal-directory": "Personal directories",
    templates: "Templates",
    profiles: "Profiles",
  }),
  file: "CSV or Excel file",
  unreadSheets: (/** @type {string[]} */ names) => `Only the first sheet was read. Not read: ${names.join(", ")}.`,
  csv: labels.csv,
  encoding: "Encoding",
  encodings: /** @type {Record<string, string>} */ ({
    "utf-8": "UTF-8",
    "windows-1252": "Western European (Windows-1252, Latin-1)",
    "iso-8859-15": "Western European with € (Latin-9)",
    "windows-1250": "Central European (Windows-1250)",
    "iso-8859-2": "Central European (Latin-2)",
    "windows-1251": "Cyrillic (Windows-1251)",
    "macintosh": "Western European (Macintosh)",
    "utf-16le": "UTF-16",
    "utf-16be": "UTF-16, big-endian",
  }),
  notUtf8: "This file is not UTF-8. Choose the encoding in which the names below are right.",
  notDecoded: "The file is not text in this encoding.",
  dryRun: "Dry run",
  rows: "Rows",
  row: "Row",
  result: "Result",
  importDry: "Dry run: nothing was written",
  importWritten: "Imported",
  importRefused: "Nothing was written",
  importAllOrNone: "Correct the wrong rows: an import writes all rows or none.",
  wouldBe: /** @type {Record<string, string>} */ ({
    created: "Would be created",
    updated: "Would be changed",
    unchanged: "No change",
    failed: "Wrong",
  }),
  rowOutcomes: /** @type {Record<string, string>} */ ({
    created: "Created",
    updated: "Changed",
    unchanged: "No change",
    failed: "Wrong",
  }),
  whatIsWrong: "Problem or change",
  /** @param {number} count */
  moreRows: (count) => `${count === 1 ? "1 more row is" : `${number.format(count)} more rows are`} not shown.`,

  // The same change to many records
  /** @param {string} list @param {number} count */
  editTitle: (list, count) => `Edit ${number.format(count)} ${list.toLowerCase()}`,
  editNothing: "No rows are selected: select some in the list.",
  keptIfEmpty: "Empty: no change.",
  noChange: "No change",
  clearLocation: "Remove the location",
  noDefaultProfile: "Remove the default profile",
  restartAfter: "Restart the phones afterwards",
  restartAfterHint: "In a batch, which shows the result of each phone. Emergency calls present a new location after the phone's next registration.",
  editPreview: "Preview",
  /** @param {number} count */
  editWrite: (count) => `Change ${number.format(count)}`,
  /** @param {number} count */
  editRestart: (count) => `Restart ${number.format(count)}`,
  editDone: "Changed",
  editEntries: "Audit entries of this edit",
  /** @param {number} count */
  editRestarts: (count) => `${count === 1 ? "1 active phone restarts" : `${number.format(count)} active phones restart`} in a batch afterwards.`,
  /** @param {number} count */
  editBatch: (count) => `Batch that restarts ${number.format(count)} ${count === 1 ? "phone" : "phones"}`,
  editNoBatch: "The records are written, and no batch was started:",
  wouldBeEdited: /** @type {Record<string, string>} */ ({
    changed: "Would be changed",
    unchanged: "No change",
    refused: "Refused",
    unknown: "Not known",
  }),
  editOutcomes: /** @type {Record<string, string>} */ ({
    changed: "Changed",
    unchanged: "No change",
    refused: "Refused",
    unknown: "Not known",
  }),

  // Audit
  actor: "Actor",
  system: "System",
  resource: "Resource",
  record: "Record",
  clientAddress: "Client address",
  noEntries: "No entry matches.",
  undoneBatch: "The batch that is undone",
  secretChanged: "changed",
  nothing: "empty",
};
