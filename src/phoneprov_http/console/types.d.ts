// Written from the OpenAPI document: PHONEPROV_WRITE_DOCS=1 pytest tests/contract/http/test_console_types.py

export interface ActStep {
  part: "account" | "batch" | "desk" | "directory" | "number" | "person" | "phone" | "pin" | "profile" | "sessions";
  outcome: "done" | "failed" | "kept" | "pending" | "unchanged";
  message: string;
  mac: string | null;
  profile_uuid: string | null;
}

export interface ApiToken {
  uuid: string;
  name: string;
  read_only: boolean;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
}

export interface AuditEntry {
  uuid: string;
  at: string;
  actor_uuid: string | null;
  actor: string | null;
  token: string | null;
  client_ip: string | null;
  request_id: string | null;
  action: string;
  resource: string;
  resource_id: string | null;
  changes: Record<string, any>;
}

export interface Batch {
  uuid: string;
  action: "restart" | "switch" | "undo";
  profile_uuid: string | null;
  profile_name: string | null;
  revision: number | null;
  model: string | null;
  location: string | null;
  software_type: string | null;
  at_once: number;
  per_minute: number | null;
  stop_after_failures: number | null;
  wait_minutes: number;
  user_uuid: string;
  state: "cancelled" | "done" | "planned" | "running" | "stopped";
  message: string | null;
  created_at: string;
  ended_at: string | null;
  phones: Counts;
  template: string | null;
  start_at: string | null;
  first: number | null;
  first_minutes: number;
  undo_on_stop: boolean;
  only_changed: boolean;
  undo_of: string | null;
  undone_by: string | null;
  newest: boolean;
  as_of: string | null;
  code: "planner_lost_right" | null;
}

export interface BatchPhone {
  position: number;
  mac: string;
  state: "done" | "failed" | "left_out" | "running" | "unknown" | "waiting";
  tries: number;
  deployment_uuid: string | null;
  profile_uuid: string | null;
  message: string | null;
  started_at: string | null;
  ended_at: string | null;
}

export interface CompanyContact {
  uuid: string;
  name: string;
  work: string | null;
  mobile: string | null;
  home: string | null;
  email: string | null;
  ringtone: string | null;
  department: string | null;
  company: string | null;
  location: string | null;
  building: string | null;
  is_active: boolean;
  created_at: string;
}

export interface Counts {
  waiting: number;
  running: number;
  done: number;
  failed: number;
  unknown: number;
  left_out: number;
  total: number;
}

export interface Deployment {
  uuid: string;
  mac: string;
  number: number;
  action: "expiry" | "login" | "logout" | "rollback" | "switch";
  profile_uuid: string;
  profile_name: string;
  revision: number;
  sha256: string | null;
  size: number | null;
  owner_uuid: string;
  user_uuid: string;
  filename: string;
  place: string | null;
  outcome: "deployed" | "failed" | "interrupted" | "running" | "unknown";
  failed_step: "clear_session" | "lines" | "restart" | "upload" | null;
  message: string | null;
  steps: Step[];
  restart: string | null;
  confirmation: "confirmed" | "none" | "not_confirmed" | "pending";
  confirmation_message: string | null;
  confirmation_by: string | null;
  confirmation_at: string | null;
  created_at: string;
  ended_at: string | null;
  template_uuid: string | null;
  template_revision: number | null;
  template_name: string | null;
  load: string | null;
}

export interface Desk {
  mac: string;
  default_profile_uuid: string | null;
  hotdesk: boolean;
  extension_uuid: string | null;
  user_uuid: string | null;
  username: string | null;
  profile_uuid: string | null;
  since: string | null;
  until: string | null;
  ends_at: string | null;
}

export interface DiscoveredPhone {
  mac: string;
  client_ip: string;
  model: string | null;
  first_seen_at: string;
  last_seen_at: string;
  names: string[];
  other_addresses: SeenAddress[];
}

export interface EditRequest {
  records: EditedKey[];
  location: string | null;
  is_active: boolean;
  vendor: boolean;
  default_profile_uuid: string | null;
  restart: boolean;
  dry_run: boolean;
}

export interface Edited {
  edit: string | null;
  written: boolean;
  changed: number;
  unchanged: number;
  refused: number;
  restarts: number;
  batch_uuid: string | null;
  batch_problem: string | null;
  records: EditedRecord[];
}

export interface EditedKey {
  key: string;
  version: string | null;
}

export interface EditedRecord {
  key: string;
  name: string;
  outcome: "changed" | "refused" | "unchanged" | "unknown";
  changes: Record<string, any>;
  message: string | null;
  version: string;
  restarts: boolean;
}

export interface Finding {
  severity: "error" | "note" | "warning";
  line: number;
  column: number;
  code: string;
  message: string;
}

export interface Foretold {
  mac: string;
  outcome: "deployed" | "failed" | "left_alone" | "postponed" | "unknown";
  evidence: "last_call" | "last_deployment" | "last_seen" | "none" | "records";
  evidence_at: string | null;
  message: string | null;
}

export interface ForetoldCounts {
  deployed: number;
  failed: number;
  unknown: number;
  postponed: number;
  left_alone: number;
}

export interface ForetoldFailure {
  mac: string;
  step: "clear_session" | "lines" | "restart" | "upload" | null;
  message: string;
  evidence: "last_call" | "last_deployment" | "last_seen" | "none" | "records";
  evidence_at: string | null;
}

export interface Found {
  people: Numbered[];
  phones: Numbered[];
  best: "people" | "phones" | null;
  q: string;
}

export interface Identity {
  uuid: string;
  user_uuid: string;
  issuer: string;
  subject: string;
  created_at: string;
}

export interface ImportProblem {
  field: string;
  message: string;
}

export interface ImportResult {
  written: boolean;
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  rows: ImportedRow[];
  deactivated: string[];
  unread_sheets: string[];
}

export interface ImportedRow {
  line: number;
  outcome: "created" | "failed" | "unchanged" | "updated";
  problems: ImportProblem[];
  changes: Record<string, any>;
  notes: ImportProblem[];
}

export interface Joiner {
  first_name: string;
  last_name: string;
  username: string;
  email: string;
  password: string;
  phone: string | null;
  lang: string;
  location: string | null;
  nationality: string | null;
  timezone: string;
  is_active: boolean;
  number: string | null;
  block: string | null;
  extension_type: "chan_sccp" | "chan_sip" | "chan_pjsip" | "custom" | null | "";
  voicemail: boolean;
  pin: boolean;
  template: string | null;
  values: Record<string, any> | null;
  mac: string | null;
  switch: boolean;
  directory: boolean;
  department: string | null;
}

export interface Leaver {
  username: string;
  hand_over_to: string | null;
}

export interface Line {
  name: string;
  label: string;
  cid_name: string;
  cid_num: string;
  context: string;
  mailbox: string | null;
  language: string | null;
}

export interface LineProblem {
  line: number;
  message: string;
}

export interface LinkedUser {
  uuid: string;
  user_uuid: string;
  extension_uuid: string;
  username: string;
  first_name: string;
  last_name: string;
  created_at: string;
}

export interface ListedPhone {
  line: number;
  mac: string;
  profile_uuid: string | null;
}

export interface Location {
  uuid: string;
  name: string;
  emergency_number: string | null;
  emergency_place: string | null;
  created_at: string;
  updated_at: string;
}

export interface MeProfile {
  uuid: string;
  first_name: string;
  last_name: string;
  username: string;
  email: string;
  phone: string | null;
  lang: string;
  location: string | null;
  nationality: string | null;
  timezone: string;
  is_active: boolean;
  last_uuid: string | null;
  last_login_ip: string | null;
  last_logout_ip: string | null;
  last_login_at: string | null;
  created_at: string;
  updated_at: string;
  created_by: string | null;
  created_ip: string;
  updated_ip: string;
  permission: OwnPermission | null;
  vendor_user: VendorUser | null;
  rights: OwnRight[];
}

export interface Moved {
  act: string | null;
  written: boolean;
  people: MovedPerson[];
  unread_sheets: string[];
}

export interface MovedPerson {
  username: string;
  user_uuid: string | null;
  number: string | null;
  pin: string | null;
  steps: ActStep[];
}

export interface Note {
  note: string | null;
}

export interface Numbered {
  id: string;
  name: string | null;
  people: Person[];
  numbers: string[];
  phones: UsedAt[];
  phones_total: number;
}

export interface OpenSession {
  uuid: string;
  created_at: string;
  refreshed_at: string | null;
  expires_at: string;
  ends_at: string;
  is_current: boolean;
}

export interface OwnPermission {
  level: number;
  perm_name: string;
}

export interface OwnRight {
  right: "helpdesk";
  locations: string[];
}

export interface PastPhone {
  mac: string;
  name: string | null;
  location: string | null;
  model: string | null;
  is_active: boolean;
  deployment_uuid: string | null;
  profile_uuid: string | null;
  profile_name: string | null;
  revision: number | null;
  template_name: string | null;
  template_revision: number | null;
  deployed_at: string | null;
  is_known: boolean;
  message: string | null;
  user_uuid: string | null;
  username: string | null;
  since: string | null;
  lines: string[] | null;
  state: "file_changed" | "fine" | "foreign" | "never_seen" | "unreachable" | "unregistered" | "user_inactive" | "wrong_load" | "wrong_model" | null;
  state_since: string | null;
}

export interface Permission {
  uuid: string;
  level: number;
  name: string;
  description: string | null;
  created_at: string;
}

export interface Person {
  uuid: string;
  name: string;
  username: string;
  is_active: boolean;
}

export interface PersonalContact {
  uuid: string;
  user_uuid: string;
  name: string;
  work: string | null;
  mobile: string | null;
  home: string | null;
  email: string | null;
  ringtone: string | null;
  created_at: string;
}

export interface Phone {
  mac: string;
  brand: string | null;
  model: string | null;
  description: string | null;
  name: string | null;
  hostname: string | null;
  location: string | null;
  phone_ip: string | null;
  phone_vlan: string | null;
  software_version: string | null;
  software_type: string | null;
  is_active: boolean;
  created_at: string;
  updated_at: string;
  address_confirmed: boolean;
  adopted_with_pin: boolean;
}

export interface PhoneList {
  phones: ListedPhone[];
  problems: LineProblem[];
}

export interface PhoneSummary {
  mac: string;
  brand: string | null;
  model: string | null;
  description: string | null;
  name: string | null;
  hostname: string | null;
  location: string | null;
  phone_ip: string | null;
  phone_vlan: string | null;
  software_version: string | null;
  software_type: string | null;
  is_active: boolean;
  created_at: string;
  updated_at: string;
  address_confirmed: boolean;
  adopted_with_pin: boolean;
  use: PhoneUse;
}

export interface PhoneUse {
  last_outcome: "deployed" | "failed" | "interrupted" | "none" | "running" | "unknown";
  last_changed_at: string | null;
  last_confirmation: "confirmed" | "none" | "not_confirmed" | "pending" | null;
  profile_uuid: string | null;
  profile_name: string | null;
  user_uuid: string | null;
  username: string | null;
  since: string | null;
  hotdesk: boolean;
  default_profile_uuid: string | null;
  default_profile_name: string | null;
  state: "file_changed" | "fine" | "foreign" | "never_seen" | "unreachable" | "unregistered" | "user_inactive" | "wrong_load" | "wrong_model" | null;
  seen_at: string | null;
}

export interface Plan {
  phones: number;
  unchanged: number;
  changed: number;
  unfit: number;
  groups: PlanGroup[];
  problems: PlanProblem[];
  notes: PlanProblem[];
  first: PlannedFirst[];
}

export interface PlanGroup {
  count: number;
  macs: string[];
  diff: string;
}

export interface PlanProblem {
  count: number;
  macs: string[];
  message: string;
}

export interface PlannedFirst {
  mac: string;
  outcome: "changed" | "unchanged" | "unfit";
}

export interface Preview {
  profile: string;
  mac: string;
  revision: number;
  sha256: string | null;
  size: number | null;
  filename: string;
  compatible: boolean;
  objection: string | null;
  on_phone: Deployment | null;
  changed: boolean | null;
  diff: string | null;
  diff_note: string | null;
  file: "as_deployed" | "changed" | "missing" | "unknown";
  file_diff: string | null;
  file_note: string | null;
  needs_reset: string[];
  server: Reach;
  phone: Reach;
  findings: Finding[];
}

export interface Problem {
  field: string;
  message: string;
}

export interface Profile {
  uuid: string;
  user_uuid: string;
  name: string;
  description: string | null;
  cnf_xml: string | null;
  compatible_models: string[];
  software_type: "SCCP" | "SIP" | "SIPE" | null;
  created_at: string;
  updated_at: string;
  template: string;
  values: Record<string, any> | null;
}

export interface Reach {
  reachable: boolean | null;
  message: string;
  duration_ms: number;
}

export interface Rehearsal {
  as_of: string;
  phones: number;
  outcomes: ForetoldCounts;
  first_failures: ForetoldFailure[];
  seconds: number;
  stopped_because: string | null;
  undone: number;
  timeline: TimelineEntry[];
  foretold: Foretold[];
}

export interface Revision {
  uuid: string;
  profile_uuid: string;
  number: number;
  sha256: string;
  size: number;
  created_at: string;
  created_by: string;
  template: string | null;
}

export interface Right {
  user_uuid: string;
  right: "helpdesk";
  locations: string[];
  created_at: string;
  updated_at: string;
}

export interface SeenAddress {
  client_ip: string;
  last_seen_at: string;
}

export interface Step {
  name: "clear_session" | "lines" | "restart" | "upload";
  ok: boolean | null;
  message: string | null;
  duration_ms: number;
}

export interface Template {
  uuid: string;
  name: string;
  description: string | null;
  model: string | null;
  software_type: "SCCP" | "SIP" | "SIPE" | null;
  body: string;
  revision: number;
  created_at: string;
  updated_at: string;
  shared: boolean;
}

export interface TimelineEntry {
  seconds: number;
  ended: number;
  message: string;
}

export interface UsedAt {
  mac: string;
  name: string | null;
  location: string | null;
  is_logged_in: boolean;
}

export interface User {
  uuid: string;
  first_name: string;
  last_name: string;
  username: string;
  email: string;
  phone: string | null;
  lang: string;
  location: string | null;
  nationality: string | null;
  timezone: string;
  is_active: boolean;
  last_uuid: string | null;
  last_login_ip: string | null;
  last_logout_ip: string | null;
  last_login_at: string | null;
  created_at: string;
  updated_at: string;
  created_by: string | null;
  created_ip: string;
  updated_ip: string;
}

export interface VendorUser {
  uuid: string;
  user_uuid: string;
  pin_code: string;
  created_at: string;
}

export interface Waiting {
  profile_uuid: string | null;
  problem: string | null;
  next_at: string | null;
}
