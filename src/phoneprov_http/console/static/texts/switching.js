/** Texts of switches, deployments, batches and profiles. */

const number = new Intl.NumberFormat();

/** @param {number} count */
const phonesOf = (count) => `${number.format(count)} ${count === 1 ? "phone" : "phones"}`;

/** @param {string[]} parts */
const firstOf = (parts) => `${parts.slice(0, 5).join(", ")}${parts.length > 5 ? ", …" : ""}`;

export const switching = {
  outcome: "Outcome",
  confirmation: "Confirmation",
  step: "Step",
  duration_: "Duration",
  message: "Message",
  revision: "Revision",
  /** @param {number} count */
  revisionNumber: (count) => `Revision ${count}`,
  /** @param {string} name @param {number} revision */
  profileRevision: (name, revision) => `${name}, revision ${revision}`,
  profile: "Profile",
  profileAndRevision: "Profile, revision",
  action: "Action",
  at: "Time",
  steps: /** @type {Record<string, string>} */ ({
    upload: "Upload",
    clear_session: "Clear service session",
    restart: "Restart",
    lines: "Lines in Asterisk",
  }),
  outcomes: /** @type {Record<string, string>} */ ({
    running: "Running",
    deployed: "Deployed",
    failed: "Failed",
    interrupted: "Interrupted",
    unknown: "Unknown",
  }),
  confirmations: /** @type {Record<string, string>} */ ({
    none: "Not watched",
    pending: "Waiting for the phone",
    confirmed: "Confirmed",
    not_confirmed: "Not confirmed",
  }),
  actions: /** @type {Record<string, string>} */ ({
    switch: "Switch",
    rollback: "Rollback",
    login: "Login",
    logout: "Logout",
    expiry: "Expiry",
    restart: "Restart",
    undo: "Undo",
  }),
  fetchResults: /** @type {Record<string, string>} */ ({
    served: "Served",
    not_found: "Not found",
    refused: "Refused",
    failed: "Failed",
  }),
  stepRunning: "Running",
  stepWaiting: "Pending",
  stepSkipped: "Not done",
  stepDone: "Done",
  stepFailed: "Failed",
  stepUnknown: "Not known",
  noDeployments: "No deployment is recorded. Switch a phone to a profile.",

  switchTitle: "Switch a phone",
  switchPhone: "Switch this phone",
  preview: "Preview",
  doSwitch: "Switch",
  /** @param {string} phone @param {string} profile */
  switchQuestion: (phone, profile) => `Switch ${phone} to ${profile}?`,
  switchHint: "The phone restarts.",
  switchStart: "Choose a phone and a profile. The preview shows what changes, before anything is sent.",
  now: "Now",
  then: "Then",
  notKnownHere: "Not known",
  rollBack: "Roll back",
  rollBackAnyway: "Roll back anyway",
  /** @param {string} phone */
  rollBackQuestion: (phone) => `Put the previous configuration back onto ${phone}?`,
  noRollBack: "There is no earlier configuration to put back.",
  switching: "The switch is running.",
  compatible: "The profile fits this phone.",
  serverReach: "Upload server",
  phoneReach: "Phone",
  reachable: "reachable",
  notReachable: "not reachable",
  notKnown: "not known",
  unchanged: "The configuration on the phone is the same.",
  findings: "Findings",
  noFindings: "No findings.",
  changes: "Changes",
  needsReset: "Takes effect after a reset only",
  line: "Line",
  fileOnServer: "File on the server",
  asDeployed: "As deployed",
  onServerNow: "On the server now",
  before: "On the phone",
  after: "New",
  severity: "Severity",
  severities: /** @type {Record<string, string>} */ ({
    error: "Error",
    warning: "Warning",
    note: "Note",
  }),

  // Batches
  newBatch: "New batch",
  /** @param {number} count */
  batchFor: (count) => `New batch for ${phonesOf(count)}`,
  profileOnPhone: "The profile that is on each phone",
  batch: "Batch",
  /** @param {string} action @param {number} count */
  batchTitle: (action, count) => `${action} of ${phonesOf(count)}`,
  started: "Started",
  ended: "Ended",
  progress: "Progress",
  whichPhones: "Which phones",
  pace: "Pace",
  /** @param {string} filters */
  byFilter: (filters) => `All active phones with ${filters}`,
  byList: "A list of phones",
  macsHint:
    "One a line or separated by commas; a column of a spreadsheet can be pasted. With a list, the filters do not apply.",
  /** @param {number} count */
  chosenPhones: (count) => `${phonesOf(count)} chosen.`,
  nothingChosen: "Choose a filter, or list phones.",
  /** @param {string[]} parts */
  notMacs: (parts) => `Not a MAC address: ${firstOf(parts)}`,
  /** @param {string[]} macs */
  notInInventory: (macs) => `Not in the inventory: ${firstOf(macs)}`,
  plan: "Plan",
  planStart: "The plan shows what changes on which phones, without starting anything.",
  summary: "Summary",
  planTitle: "Plan: nothing is started",
  rollout: "Rollout",
  startAtHint: "In the time zone of this browser. Empty: at once.",
  firstHint: "The others follow when all of these are confirmed. Empty: all together.",
  startsAt: "Starts",
  first: "First phones",
  undoes: "Undoes",
  undoneBy: "Undone by",
  undoOnStop: "Undone if it stops",
  /** @param {string} filters */
  templatePhones: (filters) => `The active phones with ${filters}. The plan names their number.`,
  planChanged: "Change",
  planUnchanged: "Have it already",
  planUnfit: "Would be skipped",
  whyUnfit: "Why phones would be skipped",
  /** @param {number} count */
  startChanged: (count) => `Start for the ${count === 1 ? "phone" : `${number.format(count)} phones`} that change${count === 1 ? "s" : ""}`,
  /** @param {number} count */
  planGroup: (count) => `${phonesOf(count)} with this change`,
  /** @param {number} count */
  andMore: (count) => `and ${number.format(count)} more`,
  startBatch: "Start batch",
  /** @param {string} action @param {number} count */
  startBatchQuestion: (action, count) => `${action} ${phonesOf(count)}?`,
  startBatchHint: "Each phone restarts.",
  cancelBatch: "Cancel batch",
  cancelBatchQuestion: "Cancel this batch?",
  cancelBatchHint: "Running phones finish; no further phone is started.",
  batchCancelled: "The batch is cancelled. Running phones finish.",
  repeatFailed: "Repeat for failed phones",
  continueBatch: "Continue with the rest",
  reasons: "Why phones were not changed",
  noBatches: "No batch was started yet. Select phones in their list, or start a new batch.",
  allStates: "All",
  batchStates: /** @type {Record<string, string>} */ ({
    running: "Running",
    done: "Done",
    stopped: "Stopped",
    cancelled: "Cancelled",
    planned: "Planned",
  }),
  doneWithFailures: "With failures",
  itemStates: /** @type {Record<string, string>} */ ({
    waiting: "Pending",
    running: "Running",
    done: "Done",
    failed: "Failed",
    unknown: "Not known",
    left_out: "Skipped",
  }),
  /** @param {any} counts */
  progressOf: ({ done, failed, unknown, left_out: skipped, total }) =>
    `${number.format(done)} of ${number.format(total)} done, ${number.format(failed)} failed, ` +
    `${unknown ? `${number.format(unknown)} not known, ` : ""}${number.format(skipped)} skipped`,

  // Templates
  templates: "Templates",
  templatesHint: "A profile with a template gets its configuration when it is deployed. Templates of one name are its variants.",
  newTemplate: "New template",
  newVariant: "New variant",
  otherVariants: "Other variants:",
  noTemplates: "There are no templates yet. One template serves every phone of a model.",
  templateText: "Template",
  templateNameHint: "Variants of a template share the name.",
  fromTemplate: "New from a template",
  template: "Template",
  values: "Values",
  valuesHint: "Texts that the template finds in values, such as vlan for {{ values.vlan }}.",
  valueName: "Name of the value",
  valueText: "Text",
  addValue: "Add a value",
  removeValue: "Remove the value",
  try_: "Try on a phone",
  tryHint: "What a profile with this template gives for a phone. Nothing is deployed; secrets are masked.",
  tryOfTyped: "This is from the text that you typed, which is not saved yet.",
  variantHint: "Empty means all models without a variant of their own.",

  // Profiles
  newProfile: "New profile",
  noProfiles: "There are no profiles yet. A profile holds the configuration that phones get.",
  models: "Compatible models",
  changed: "Changed",
  owner: "Owner",
  configuration: "Configuration",
  revisions: "Revisions",
  oneRevision: "There is one revision only: nothing to compare.",
  compare: "Compare",
  from: "From revision",
  to: "To revision",
  noDifference: "The two revisions are the same.",
  switchPhoneTo: "Switch a phone to this profile",
  deployedOn: "On phones",
  onNoPhone: "This profile is on no phone.",
  changedMeanwhile: "This profile was changed meanwhile, in another tab or by another account.",
  changedMeanwhileHint: "Your text is kept here. Compare it with the stored one before you decide.",
  showStored: "Compare with the stored one",
  overwrite: "Save mine over it",
  stored: "Stored",
  mine: "Mine",
  deleteProfileHint: "Configurations on phones stay.",
  /** @param {string} reason */
  deleteAnyway: (reason) => `${reason} Delete it anyway?`,
  previewOfTyped: "The preview is of what you typed, which is not saved yet.",
  /** @param {number} seconds */
  previewFollows: (seconds) =>
    `The next preview follows in ${seconds} s: the number of previews of a phone in ten minutes is limited. You can go on typing.`,
  previewPhone: "Preview on phone",
  /** @param {number} count */
  findingsOf: (count) => (count === 0 ? "No findings" : `${count} ${count === 1 ? "finding" : "findings"}`),
};
