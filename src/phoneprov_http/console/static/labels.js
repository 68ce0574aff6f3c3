/** What a field of the API is called in the console: in forms, in problems, in the audit trail. */

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
  user_uuid: "User",
  extension_uuid: "Extension",
  compatible_models: "Compatible models",
  cnf_xml: "Configuration",
  revision: "Revision",
  vendor: "Vendor phone",
  csv: "CSV text",
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
};

/** A sentence of the server with the names that the console gives to fields. @param {string} text */
export const inWords = (text) =>
  text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => (name in labels ? inSentence(labels[name]) : name));

/** @param {string} label */
const inSentence = (label) => (/^[A-Z]{2}/.test(label) ? label : label.toLowerCase());

/** @param {string} field */
export function labelOf(field) {
  const [name] = field.replace(/_uuid$/, "").split(/[.[]/);
  return labels[field] ?? labels[name] ?? name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());
}
