// Written from the OpenAPI document: PHONEPROV_WRITE_DOCS=1 pytest tests/contract/http/test_console_types.py

export interface AdoptPhone {
  name: string | null;
  location: string | null;
  profile_uuid: string | null;
  mac: string;
  created_at: any;
}

export interface ApiToken {
  uuid: string;
  name: string;
  read_only: boolean;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
}

export interface Assignment {
  uuid: string;
  user_uuid: string;
  perm_uuid: string;
  level: number;
  perm_name: string;
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
  action: "restart" | "switch";
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
  state: "cancelled" | "done" | "running" | "stopped";
  message: string | null;
  created_at: string;
  ended_at: string | null;
  phones: Counts;
}

export interface BatchPhone {
  position: number;
  mac: string;
  state: "done" | "failed" | "left_out" | "running" | "unknown" | "waiting";
  tries: number;
  deployment_uuid: string | null;
  message: string | null;
  started_at: string | null;
  ended_at: string | null;
}

export interface CheckTemplate {
  body: string;
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

export interface CompanyContactPatch {
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
  uuid: string;
  created_at: any;
}

export interface CountedPhones {
  value: string | null;
  phones: number;
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

export interface CreateAssignment {
  user_uuid: string;
  perm_uuid: string;
}

export interface CreateBatch {
  action: "restart" | "switch";
  profile_uuid: string | null;
  revision: number | null;
  macs: string[] | null;
  model: string | null;
  location: string | null;
  software_type: string | null;
  at_once: number;
  per_minute: number | null;
  stop_after_failures: number | null;
  wait_minutes: number;
}

export interface CreateCompanyContact {
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
  created_at: any;
}

export interface CreateExtension {
  type: "chan_sccp" | "chan_sip" | "chan_pjsip" | "custom";
  extension: string;
  name: string;
  password: string;
  description: string | null;
  voicemail: boolean;
  voicemail_passcode: string | null;
  is_active: boolean;
  created_at: any;
}

export interface CreateKem {
  model: string | null;
  mac: string | null;
  ip: string | null;
  connected_phone: string | null;
  software_version: string | null;
  software_type: string | null;
  created_at: any;
}

export interface CreateLink {
  user_uuid: string;
  extension_uuid: string;
  created_at: any;
}

export interface CreatePermission {
  level: number;
  name: string;
  description: string | null;
  created_at: any;
}

export interface CreatePersonalContact {
  name: string;
  work: string | null;
  mobile: string | null;
  home: string | null;
  email: string | null;
  ringtone: string | null;
  user_uuid: string;
  created_at: any;
}

export interface CreatePhone {
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
  created_at: any;
}

export interface CreatePin {
  pin_code: string;
  user_uuid: string;
  created_at: any;
  uuid: any;
}

export interface CreateProfile {
  user_uuid: string;
  name: string;
  cnf_xml: string | null;
  description: string | null;
  compatible_models: string[];
  software_type: "" | "SCCP" | "SIP" | "SIPE" | null;
  template: string | null;
  values: Record<string, any> | null;
  created_at: any;
}

export interface CreateTemplate {
  name: string;
  body: string;
  description: string | null;
  model: string | null;
  software_type: "SCCP" | "SIP" | "SIPE" | null | "";
  created_at: any;
}

export interface CreateToken {
  name: string;
  expires_at: string | null;
  read_only: boolean;
  created_at: any;
}

export interface CreateUser {
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
  created_at: any;
}

export interface CreateVendorService {
  name: string | null;
  url: string | null;
  type: string | null;
  created_at: any;
}

export interface CreatedToken {
  uuid: string;
  name: string;
  read_only: boolean;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
  token: string;
}

export interface Credentials {
  username: string;
  password: string;
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
  size: number;
  owner_uuid: string;
  user_uuid: string;
  filename: string;
  place: string | null;
  outcome: "deployed" | "failed" | "interrupted" | "running" | "unknown";
  failed_step: "clear_session" | "restart" | "upload" | null;
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
}

export interface DeskPatch {
  default_profile_uuid: string | null;
  hotdesk: boolean;
  extension_uuid: string | null;
  mac: string;
  profile_uuid: any;
  since: any;
  until: any;
  user_uuid: any;
  username: any;
}

export interface DiscoveredPhone {
  mac: string;
  client_ip: string;
  model: string | null;
  first_seen_at: string;
  last_seen_at: string;
  names: string[];
}

export interface EnrichedPhone {
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
  is_vendor: boolean;
  vendor: VendorPhone | null;
  key_expansion_modules: Kem[];
}

export interface ErrorInfo {
  code: string;
  details: Problem[];
  request_id: string;
}

export interface ExtensionPatch {
  type: "chan_sccp" | "chan_sip" | "chan_pjsip" | "custom";
  extension: string;
  name: string;
  password: string | null;
  description: string | null;
  voicemail: boolean;
  voicemail_passcode: string | null;
  is_active: boolean;
  uuid: string;
  created_at: any;
  created_by: any;
  created_ip: any;
  updated_at: any;
  updated_by: any;
  updated_ip: any;
}

export interface Failure {
  success: boolean;
  message: string;
  data: Record<string, any> | null;
  error: ErrorInfo;
}

export interface Fetch {
  uuid: string;
  mac: string | null;
  name: string;
  transport: "http" | "tftp";
  client_ip: string;
  result: "failed" | "not_found" | "refused" | "served";
  bytes: number;
  duration_ms: number;
  created_at: string;
}

export interface Finding {
  severity: "error" | "note" | "warning";
  line: number;
  column: number;
  code: string;
  message: string;
}

export interface Fleet {
  phones: number;
  states: Record<string, any>;
  last_outcomes: Record<string, any>;
  models: Record<string, any>;
  loads: Record<string, any>;
  days: FleetDay[];
}

export interface FleetDay {
  day: string;
  outcomes: Record<string, any>;
}

export interface FullLink {
  uuid: string;
  user_uuid: string;
  extension_uuid: string;
  username: string;
  first_name: string;
  last_name: string;
  extension: string;
  ext_name: string;
  type: "chan_sccp" | "chan_sip" | "chan_pjsip" | "custom";
  created_at: string;
}

export interface ImportProblem {
  field: string;
  message: string;
}

export interface ImportRequest {
  csv: string;
  dry_run: boolean;
  keep_going: boolean;
}

export interface ImportResult {
  written: boolean;
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  rows: ImportedRow[];
}

export interface ImportedRow {
  line: number;
  outcome: "created" | "failed" | "unchanged" | "updated";
  problems: ImportProblem[];
  changes: Record<string, any>;
}

export interface Kem {
  uuid: string;
  model: string | null;
  mac: string | null;
  ip: string | null;
  connected_phone: string | null;
  software_version: string | null;
  software_type: string | null;
  created_at: string;
}

export interface KemPatch {
  model: string | null;
  mac: string | null;
  ip: string | null;
  connected_phone: string | null;
  software_version: string | null;
  software_type: string | null;
  uuid: string;
  created_at: any;
}

export interface Line {
  name: string;
  label: string;
  cid_name: string;
  cid_num: string;
  context: string;
  mailbox: string | null;
}

export interface LinkedExtension {
  uuid: string;
  user_uuid: string;
  extension_uuid: string;
  extension: string;
  ext_name: string;
  type: "chan_sccp" | "chan_sip" | "chan_pjsip" | "custom";
  created_at: string;
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

export interface LintRequest {
  cnf_xml: string;
  software_type: "" | "SCCP" | "SIP" | "SIPE" | null;
}

export interface LintResult {
  findings: Finding[];
}

export interface ListMetadata {
  total: number;
  limit: number;
  offset: number;
}

export interface LoginData {
  user: User;
  accessToken: string;
  refreshToken: string;
}

export interface LogoutRequest {
  refresh_token: string | null;
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
}

export interface NoMetadata {
}

export interface OwnPermission {
  level: number;
  perm_name: string;
}

export interface Permission {
  uuid: string;
  level: number;
  name: string;
  description: string | null;
  created_at: string;
}

export interface PermissionPatch {
  name: string;
  level: number;
  description: string | null;
  uuid: string;
  created_at: any;
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

export interface PersonalContactPatch {
  name: string;
  work: string | null;
  mobile: string | null;
  home: string | null;
  email: string | null;
  ringtone: string | null;
  user_uuid: string;
  uuid: string;
  created_at: any;
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
}

export interface PhonePatch {
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
  mac: string;
  created_at: any;
  updated_at: any;
}

export interface PhoneStatus {
  mac: string;
  state: "file_changed" | "fine" | "foreign" | "never_seen" | "unreachable" | "unregistered" | "wrong_model";
  message: string;
  next_step: string | null;
  since: string | null;
  seen_at: string | null;
  answers: boolean | null;
  reported_model: string | null;
  reported_load: string | null;
  serial: string | null;
  is_registered: boolean | null;
  file: "as_deployed" | "changed" | "missing" | "unknown";
  history: StateChange[];
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
}

export interface Preview {
  profile: string;
  mac: string;
  revision: number;
  sha256: string;
  size: number;
  filename: string;
  compatible: boolean;
  objection: string | null;
  on_phone: Deployment | null;
  changed: boolean | null;
  diff: string | null;
  diff_note: string | null;
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
  values: Record<string, any>;
}

export interface ProfilePatch {
  user_uuid: string;
  name: string;
  cnf_xml: string | null;
  description: string | null;
  compatible_models: string[];
  software_type: "" | "SCCP" | "SIP" | "SIPE" | null;
  revision: number;
  template: string | null;
  values: Record<string, any> | null;
  uuid: string;
  created_at: any;
  updated_at: any;
}

export interface Reach {
  reachable: boolean | null;
  message: string;
  duration_ms: number;
}

export interface RefreshRequest {
  refresh_token: string;
}

export interface Registration {
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
  created_at: any;
}

export interface RenderRequest {
  profile_uuid: string;
  mac: string;
}

export interface ReplacePhone {
  mac: string;
  created_at: any;
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

export interface RevisionDiff {
  from: number;
  to: number;
  diff: string;
}

export interface RollbackRequest {
  deployment_uuid: string;
  profile_uuid: string;
  revision: number;
}

export interface ShownExtension {
  uuid: string;
  type: "chan_sccp" | "chan_sip" | "chan_pjsip" | "custom";
  extension: string;
  name: string;
  password: Record<string, any> | null;
  description: string | null;
  voicemail: boolean;
  voicemail_passcode: string | null;
  is_active: boolean;
  created_at: string;
  created_by: string | null;
  updated_at: string;
  updated_by: string | null;
  created_ip: string;
  updated_ip: string;
}

export interface StateChange {
  state: "file_changed" | "fine" | "foreign" | "never_seen" | "unreachable" | "unregistered" | "wrong_model";
  at: string;
}

export interface Step {
  name: "clear_session" | "restart" | "upload";
  ok: boolean | null;
  message: string | null;
  duration_ms: number;
}

export interface SwitchRequest {
  profile_uuid: string;
  mac: string;
}

export interface Switched {
  profile: string;
  mac: string;
  restart: string;
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
}

export interface TemplateCheck {
  findings: Finding[];
}

export interface TemplatePatch {
  name: string;
  body: string;
  description: string | null;
  model: string | null;
  software_type: "SCCP" | "SIP" | "SIPE" | null | "";
  revision: number;
  uuid: string;
  created_at: any;
  updated_at: any;
}

export interface TokenPair {
  accessToken: string;
  refreshToken: string;
}

export interface Trial {
  configuration: string | null;
  findings: Finding[];
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

export interface UserPatch {
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
  uuid: string;
  created_at: any;
  created_by: any;
  created_ip: any;
  last_login_at: any;
  last_login_ip: any;
  last_logout_ip: any;
  last_uuid: any;
  updated_at: any;
  updated_ip: any;
}

export interface VendorPhone {
  mac: string;
  vendor: boolean;
}

export interface VendorPhoneFlag {
  vendor: boolean;
  mac: string;
}

export interface VendorService {
  uuid: string;
  name: string | null;
  url: string | null;
  type: string | null;
  created_at: string;
  updated_at: string;
}

export interface VendorServicePatch {
  name: string | null;
  url: string | null;
  type: string | null;
  uuid: string;
  created_at: any;
  updated_at: any;
}

export interface VendorUser {
  uuid: string;
  user_uuid: string;
  pin_code: string;
  created_at: string;
}
