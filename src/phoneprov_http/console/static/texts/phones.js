/** Texts of phones, desks and the overview. */

import { labels } from "./frame.js";

const number = new Intl.NumberFormat();

export const phones = {
  mac: labels.mac,
  name: labels.name,
  model: labels.model,
  location: labels.location,
  address: labels.phone_ip,
  /** @param {string} address */
  notConfirmed: (address) => `${address} (not confirmed)`,
  addressNotConfirmed: "The address of this phone is not confirmed",
  adoptedWithPin: "A user adopted the phone with a PIN.",
  notConfirmedHint:
    "Until level 0 confirms the address, no password is sent to the phone: nothing is uploaded to its own FTP server, and it is restarted through Asterisk's manager interface or by hand.",
  fewProfiles: "The phone gets only profiles that were made by level 0 or from a shared template.",
  confirmAddress: "Confirm the address",
  /** @param {string} address @param {string} phone */
  confirmQuestion: (address, phone) => `Is ${address} the address of ${phone}?`,
  confirmHint: "Commands and uploads then go to this address, with the login of the phones.",
  /** @param {string} phone */
  addressConfirmed: (phone) => `Address of ${phone} confirmed.`,
  softwareType: labels.software_type,
  softwareVersion: labels.software_version,
  description: labels.description,
  isActive: labels.is_active,
  inactive: "Inactive",
  phone: "Phone",
  loggedIn: "Logged-in user",
  me: "Me",
  lastOutcome: "Last outcome",
  lastChange: "Last change",
  neverDeployed: "Never deployed",
  newPhone: "New phone",
  noPhones: "There are no phones yet. Create one, or import a table.",
  details: "Details",
  since: "Since",
  by: "By",
  deletedAccount: "A deleted account",
  anotherAccount: "Another account",
  /** @param {string} mac */
  deletePhone: (mac) => `Delete the phone ${mac} with its flag and its desk?`,

  // What is on a phone
  onPhone: "On this phone",
  nothingDeployed: "This service has put no profile on this phone yet.",
  /** @param {string} profile */
  profileFollows: (profile) => `${profile} is not on this phone yet`,
  userLeaves: "The last user still has to be taken off this phone",
  followsSoon: "The service does it within a minute; during a call it waits for the end.",
  triedAgain: "It did not succeed. The service tries again",
  switchAgain: "Switch to this profile again",
  notVisible: "What is on this phone is shown to its owner and to level 0 only.",
  lastChangeFailed: "The last change failed",
  lastChangeUnknown: "It is not known whether the last change reached the phone",
  lastChangeRunning: "A change is running",
  noRestart: "The configuration is in place, and the phone was not restarted",
  restartUnknown: "The configuration is in place; it is not known whether the phone restarted",
  notSeenAgain: "The configuration is in place, and the phone was not seen again",
  stillOnPhone: "The configuration below is still on the phone.",
  oldOrNew: "The phone has the configuration below, or the previous configuration.",
  belowOrThis: "The phone has the configuration below, or the configuration of that change.",
  seeChange: "Show the change",
  history: "Deployments",
  noHistory: "No deployment of this phone is recorded.",
  noVisibleHistory: "No deployment of this phone that you may see is recorded.",
  // Locations
  locations: "Locations",
  newLocation: "New location",
  noLocations: "There are no locations yet: emergency calls present the number of the line. Create one, or import a table.",
  locationNameHint: "Parts separated by /, such as Berlin/3/301. Phones at or within this location get its values.",
  emergencyNumber: labels.emergency_number,
  emergencyPlace: labels.emergency_place,
  noEmergencyNumber: "None: emergency calls present the number of the line",
  /** @param {string} phone */
  openQuestion: (phone) => `Let users log in at ${phone} without an emergency number?`,
  openHint:
    "No location gives this phone an emergency number: an emergency call presents the number of the user, who may be registered at another place.",
  openDesk: "Let users log in",
  emergencyHint: "Leave empty to take the value of the next shorter name.",

  modules: "Key expansion modules",
  noModules: "No key expansion modules.",
  noModulesYet: "There are no key expansion modules yet. Create one for a phone, or import a table.",
  newModule: "New module",
  fetches: "Fetches",
  noFetches: "No fetches recorded.",
  signedHint:
    "A phone that requests SEP<MAC>.cnf.xml.sgn trusts only its former call manager, and accepts no other configuration. Erase the trust list (CTL, ITL) in the security settings of the phone; then it requests SEP<MAC>.cnf.xml.",
  drills: "Drills",
  noDrills: "No drill of an emergency call is recorded. phoneprov drill asks Asterisk what each desk would present.",
  recorded: "Recorded",
  presented: "Presented",
  lastDrill: "Emergency drill",
  drillResults: /** @type {Record<string, string>} */ ({
    agrees: "As recorded",
    differs: "Differs",
    not_registered: "Not registered",
    unknown: "Not known",
  }),
  lines: "Lines",
  noLines: "This phone has no line in Asterisk.",
  sipLines:
    "The lines of a SIP phone are in its configuration: the revision of its profile shows them, and for a template each deployment.",
  ownerLeft: "The user of this configuration is inactive or deleted; number and password are still on the phone",
  leaverNext:
    "Switch the phone to another profile. Until then, give the extension another password or deactivate it: the number does not register then.",
  lineNumber: "Number",
  lineContext: "Dialplan context",
  mailbox: "Voicemail box",
  flags: "Vendor flags",
  noFlags: "No phone has a flag. A phone with the flag No is not offered the menu of this service.",
  newFlag: "New flag",

  // Desks
  desk: "Desk",
  deskUser: "Logged in",
  nobodyLoggedIn: "No user is logged in.",
  restartPhone: "Restart",
  /** @param {string} phone */
  restartQuestion: (phone) => `Restart ${phone}?`,
  restartHint: "The phone keeps its configuration, and is away for a minute. It is not restarted during a call.",
  /** @param {string} phone */
  restarted: (phone) => `${phone} accepted the restart.`,
  logOutDesk: "Log out",
  /** @param {string} user @param {string} phone */
  logOutQuestion: (user, phone) => `Log ${user} out of ${phone}?`,
  logOutHint: "The phone gets its default profile and restarts. During a call it waits for the end.",
  /** @param {string} user */
  loggedOut: (user) => `${user} logged out.`,
  defaultProfile: labels.default_profile_uuid,
  noDefault: "None: the phone keeps the last profile",
  hotdesk: labels.hotdesk,
  /** @param {string} zone */
  endsAtHint: (zone) => `A time and its zone, such as 06:00 ${zone}. Empty: after the hours of the office.`,
  label: "Label",
  /** @param {string} mac */
  qrCode: (mac) => `QR code of ${mac}`,
  ownWebPage: "The phone's own web page",
  ownNumber: "Number of the desk",
  noOwnNumber: "None: the lines of the user or the owner",
  until: "Until",
  deskSettings: "Desk settings",
  /** @param {string} name */
  deskSaved: (name) => `Desk of ${name} saved.`,
  onlyUsed: "In use",
  noDesks: "There are no desks: each phone of the inventory has one.",

  // Discovered phones
  discovered: "Discovered phones",
  firstSeen: "First seen",
  lastSeen: "Last seen",
  files: "Files",
  adopt: "Adopt",
  /** @param {string} mac */
  adoptTitle: (mac) => `Adopt ${mac}`,
  /** @param {string} facts */
  adoptHint: (facts) => `The phone is added to the inventory${facts ? ` (${facts})` : ""}. With a default profile it gets this profile and restarts.`,
  /** @param {string} phone */
  adopted: (phone) => `${phone} adopted.`,
  replace: "Replace",
  /** @param {string} phone */
  replaceTitle: (phone) => `Replace ${phone} by another device`,
  newMac: "MAC address of the new phone",
  replaceHint:
    "The new phone gets name, location, modules, vendor flag and desk. This phone becomes inactive; both phones show the history. The list offers phones that requested their files.",
  /** @param {string} mac @param {string} phone */
  replaced: (mac, phone) => `${mac} is replaced by ${phone}.`,
  noDiscovered: "Every phone that asked for its files is in the inventory.",

  // The state of the fleet
  fleetState: "State",
  states: /** @type {Record<string, string>} */ ({
    fine: "Fine",
    foreign: "Another phone answers",
    unreachable: "Not reachable",
    wrong_model: "Another model or firmware",
    wrong_load: "Firmware did not arrive",
    user_inactive: "Its user is not active",
    unregistered: "Not registered",
    file_changed: "File changed",
    never_seen: "Never seen",
  }),
  /** @param {string} state @param {number} count */
  inState: (state, count) => `${number.format(count)} ${count === 1 ? "phone" : "phones"}: ${state}`,
  fileOnServerNow: "File on the server",
  fileStates: /** @type {Record<string, string>} */ ({
    as_deployed: "As deployed",
    changed: "Changed by another program",
    missing: "Missing",
  }),
  seenAt: "Last seen",
  neverSeen: "Never",
  stateNotKnown: "Not known",
  seeOutcome: "See the last outcome",
  asRecorded: "As recorded",
  answersWeb: "its web server answers",
  isRegistered: "it is registered",
  seenBy: "by an answer, a registration, a file or a page",
  reports: "Reports",
  expectedLoad: "Firmware of its configuration",
  serial: "Serial number",
  notLookedAt: "Not checked yet: phoneprov watch, or the service with PHONEPROV_WATCH_MINUTES, checks the phones.",
  byModel: "By model",
  noLoads: "No phone has reported its firmware yet.",
  byLoad: "By firmware",

  // Overview
  phonesTotal: "Phones",
  inUse: "Desks in use",
  attention: "Needs attention",
  nothingNeedsAttention: "Nothing needs attention.",
  lastDays: "Deployments of the last 30 days (UTC)",
  runningBatches: "Batches",
  recentFailures: "Newest failures",
  noFailures: "No deployment failed in the last seven days.",
  /** @param {number} count */
  failedPhones: (count) => `${number.format(count)} ${count === 1 ? "phone" : "phones"}: the last change failed`,
  /** @param {number} count */
  unknownPhones: (count) => `${number.format(count)} ${count === 1 ? "phone" : "phones"}: the outcome is not known`,
  /** @param {number} count */
  interruptedPhones: (count) => `${number.format(count)} ${count === 1 ? "phone" : "phones"}: the last change was interrupted`,
  /** @param {number} count */
  drilledPhones: (count) =>
    `${number.format(count)} ${count === 1 ? "phone" : "phones"}: an emergency call presents something else than the record`,
  /** @param {number} count */
  discoveredPhones: (count) => `${number.format(count)} ${count === 1 ? "phone is" : "phones are"} not in the inventory`,
  /** @param {number} count */
  inactivePhones: (count) => `${number.format(count)} inactive`,
  /** @param {string} time */
  readAt: (time) => `As of ${time}`,
  day: "Day",
  asTable: "Show as a table",
  noLocation: "No location",
  /** @param {number} share */
  shareOf: (share) => new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share),
};
