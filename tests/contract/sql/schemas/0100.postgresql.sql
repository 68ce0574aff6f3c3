CREATE TABLE deployment_days (
	day VARCHAR(10) COLLATE "C" NOT NULL,
	outcome VARCHAR(16) COLLATE "C" NOT NULL,
	deployments BIGINT NOT NULL,
	CONSTRAINT pk_deployment_days PRIMARY KEY (day, outcome)
);

CREATE TABLE served_files (
	name_key VARCHAR(64) COLLATE "C" NOT NULL,
	name TEXT NOT NULL,
	content_sealed BYTEA NOT NULL,
	content_key_id VARCHAR(16) COLLATE "C" NOT NULL,
	attempt VARCHAR(36) COLLATE "C" NOT NULL,
	CONSTRAINT pk_served_files PRIMARY KEY (name_key)
);

CREATE INDEX ix_served_files_content_key_id_name_key ON served_files (content_key_id, name_key);

CREATE TABLE fetches (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	mac VARCHAR(17) COLLATE "C",
	name TEXT NOT NULL,
	transport VARCHAR(4) COLLATE "C" NOT NULL,
	client_ip VARCHAR(45) COLLATE "C" NOT NULL,
	result VARCHAR(16) COLLATE "C" NOT NULL,
	bytes BIGINT NOT NULL,
	duration_ms BIGINT NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_fetches PRIMARY KEY (uuid)
);

CREATE INDEX ix_fetches_created_at_uuid ON fetches (created_at, uuid);

CREATE INDEX ix_fetches_mac_created_at_uuid ON fetches (mac, created_at, uuid);

CREATE TABLE discovered_phones (
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	client_ip VARCHAR(45) COLLATE "C" NOT NULL,
	model TEXT,
	first_seen_at VARCHAR(24) COLLATE "C" NOT NULL,
	last_seen_at VARCHAR(24) COLLATE "C" NOT NULL,
	names TEXT NOT NULL,
	other_addresses TEXT NOT NULL,
	discovered_by VARCHAR(45) COLLATE "C" NOT NULL,
	CONSTRAINT pk_discovered_phones PRIMARY KEY (mac)
);

CREATE INDEX ix_discovered_phones_discovered_by_last_seen_at_mac ON discovered_phones (discovered_by, last_seen_at, mac);

CREATE INDEX ix_discovered_phones_first_seen_at_mac ON discovered_phones (first_seen_at, mac);

CREATE INDEX ix_discovered_phones_last_seen_at_mac ON discovered_phones (last_seen_at, mac);

CREATE TABLE extensions (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	type VARCHAR(16) COLLATE "C" NOT NULL,
	extension TEXT COLLATE "C" NOT NULL,
	name TEXT NOT NULL,
	password_sealed BYTEA NOT NULL,
	password_key_id VARCHAR(16) COLLATE "C" NOT NULL,
	description TEXT,
	voicemail BOOLEAN NOT NULL,
	voicemail_passcode_sealed BYTEA,
	voicemail_passcode_key_id VARCHAR(16) COLLATE "C",
	is_active BOOLEAN NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	created_by VARCHAR(36) COLLATE "C",
	updated_at VARCHAR(24) COLLATE "C" NOT NULL,
	updated_by VARCHAR(36) COLLATE "C",
	created_ip VARCHAR(45) COLLATE "C" NOT NULL,
	updated_ip VARCHAR(45) COLLATE "C" NOT NULL,
	search TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_extensions PRIMARY KEY (uuid),
	CONSTRAINT uq_extensions_extension UNIQUE (extension)
);

CREATE INDEX ix_extensions_created_at_uuid ON extensions (created_at, uuid);

CREATE INDEX ix_extensions_password_key_id_uuid ON extensions (password_key_id, uuid);

CREATE INDEX ix_extensions_voicemail_passcode_key_id_uuid ON extensions (voicemail_passcode_key_id, uuid);

CREATE TABLE phones (
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	brand TEXT,
	model TEXT,
	description TEXT,
	name TEXT,
	hostname TEXT,
	location TEXT,
	phone_ip VARCHAR(45) COLLATE "C",
	phone_vlan TEXT,
	software_version TEXT,
	software_type TEXT,
	is_active BOOLEAN NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	updated_at VARCHAR(24) COLLATE "C" NOT NULL,
	address_confirmed BOOLEAN NOT NULL,
	adopted_with_pin BOOLEAN NOT NULL,
	last_outcome VARCHAR(16) COLLATE "C" DEFAULT 'none' NOT NULL,
	last_number BIGINT,
	search TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_phones PRIMARY KEY (mac)
);

CREATE INDEX ix_phones_created_at_mac ON phones (created_at, mac);

CREATE INDEX ix_phones_is_active_last_outcome_model ON phones (is_active, last_outcome, model);

CREATE TABLE replacements (
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	earlier VARCHAR(17) COLLATE "C" NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_replacements PRIMARY KEY (mac)
);

CREATE INDEX ix_replacements_earlier_created_at ON replacements (earlier, created_at);

CREATE TABLE vendor_phones (
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	vendor BOOLEAN NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_vendor_phones PRIMARY KEY (mac)
);

CREATE INDEX ix_vendor_phones_created_at_mac ON vendor_phones (created_at, mac);

CREATE TABLE kems (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	model TEXT,
	mac VARCHAR(17) COLLATE "C",
	ip VARCHAR(45) COLLATE "C",
	connected_phone VARCHAR(17) COLLATE "C",
	software_version TEXT,
	software_type TEXT,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_kems PRIMARY KEY (uuid)
);

CREATE INDEX ix_kems_connected_phone ON kems (connected_phone);

CREATE INDEX ix_kems_created_at_uuid ON kems (created_at, uuid);

CREATE TABLE vendor_services (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	name TEXT,
	url TEXT,
	type TEXT,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	updated_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_vendor_services PRIMARY KEY (uuid)
);

CREATE INDEX ix_vendor_services_created_at_uuid ON vendor_services (created_at, uuid);

CREATE TABLE users (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	first_name TEXT NOT NULL,
	last_name TEXT NOT NULL,
	username TEXT NOT NULL,
	email TEXT NOT NULL,
	phone TEXT,
	lang TEXT NOT NULL,
	location TEXT,
	nationality TEXT,
	timezone TEXT NOT NULL,
	is_active BOOLEAN NOT NULL,
	last_uuid VARCHAR(36) COLLATE "C",
	last_login_ip VARCHAR(45) COLLATE "C",
	last_logout_ip VARCHAR(45) COLLATE "C",
	last_login_at VARCHAR(24) COLLATE "C",
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	updated_at VARCHAR(24) COLLATE "C" NOT NULL,
	created_by VARCHAR(36) COLLATE "C",
	created_ip VARCHAR(45) COLLATE "C" NOT NULL,
	updated_ip VARCHAR(45) COLLATE "C" NOT NULL,
	username_key TEXT COLLATE "C" NOT NULL,
	email_key TEXT COLLATE "C" NOT NULL,
	search TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_users PRIMARY KEY (uuid),
	CONSTRAINT uq_users_username_key UNIQUE (username_key),
	CONSTRAINT uq_users_email_key UNIQUE (email_key)
);

CREATE INDEX ix_users_created_at_uuid ON users (created_at, uuid);

CREATE TABLE permissions (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	level BIGINT NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	description TEXT,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_permissions PRIMARY KEY (uuid),
	CONSTRAINT uq_permissions_level_name UNIQUE (level, name)
);

CREATE INDEX ix_permissions_created_at_uuid ON permissions (created_at, uuid);

CREATE TABLE login_attempts (
	failures BIGINT NOT NULL,
	first_at BIGINT NOT NULL,
	last_at BIGINT NOT NULL,
	locked_until BIGINT NOT NULL,
	undecided BIGINT NOT NULL,
	in_a_row BIGINT NOT NULL,
	known BIGINT NOT NULL,
	account_key VARCHAR(64) COLLATE "C" NOT NULL,
	CONSTRAINT pk_login_attempts PRIMARY KEY (account_key)
);

CREATE INDEX ix_login_attempts_last_at ON login_attempts (last_at);

CREATE TABLE rates (
	subject VARCHAR(100) COLLATE "C" NOT NULL,
	first_at BIGINT NOT NULL,
	events INTEGER NOT NULL,
	items TEXT NOT NULL,
	CONSTRAINT pk_rates PRIMARY KEY (subject)
);

CREATE INDEX ix_rates_first_at ON rates (first_at);

CREATE TABLE audit (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	at VARCHAR(24) COLLATE "C" NOT NULL,
	actor_uuid VARCHAR(36) COLLATE "C",
	actor TEXT,
	token TEXT,
	client_ip VARCHAR(45) COLLATE "C",
	request_id VARCHAR(64) COLLATE "C",
	action VARCHAR(64) COLLATE "C" NOT NULL,
	resource VARCHAR(32) COLLATE "C" NOT NULL,
	resource_id VARCHAR(255) COLLATE "C",
	changes TEXT NOT NULL,
	traceparent VARCHAR(55) COLLATE "C",
	CONSTRAINT pk_audit PRIMARY KEY (uuid)
);

CREATE INDEX ix_audit_actor_uuid_resource_action ON audit (actor_uuid, resource, action, at DESC, uuid DESC NULLS LAST);

CREATE INDEX ix_audit_actor_uuid_resource_id_resource_action ON audit (actor_uuid, resource_id, resource, action, at DESC NULLS LAST, uuid DESC NULLS LAST);

CREATE INDEX ix_audit_at_uuid ON audit (at, uuid);

CREATE INDEX ix_audit_resource_action ON audit (resource, action, at DESC NULLS LAST, uuid DESC);

CREATE INDEX ix_audit_resource_id_resource_action ON audit (resource_id, resource, action, at DESC, uuid DESC NULLS LAST);

CREATE TABLE company_contacts (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	name TEXT NOT NULL,
	work TEXT,
	mobile TEXT,
	home TEXT,
	email TEXT,
	ringtone TEXT,
	department TEXT,
	company TEXT,
	location TEXT,
	building TEXT,
	is_active BOOLEAN NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	search TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_company_contacts PRIMARY KEY (uuid)
);

CREATE INDEX ix_company_contacts_created_at_uuid ON company_contacts (created_at, uuid);

CREATE TABLE configuration_templates (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	description TEXT,
	model TEXT,
	software_type VARCHAR(4) COLLATE "C",
	body_sealed BYTEA NOT NULL,
	body_key_id VARCHAR(16) COLLATE "C" NOT NULL,
	revision BIGINT NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	updated_at VARCHAR(24) COLLATE "C" NOT NULL,
	shared BOOLEAN NOT NULL,
	variant TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_configuration_templates PRIMARY KEY (uuid),
	CONSTRAINT uq_configuration_templates_variant UNIQUE (variant)
);

CREATE INDEX ix_configuration_templates_body_key_id_uuid ON configuration_templates (body_key_id, uuid);

CREATE INDEX ix_configuration_templates_created_at_uuid ON configuration_templates (created_at, uuid);

CREATE INDEX ix_configuration_templates_name_created_at_uuid ON configuration_templates (name, created_at, uuid);

CREATE TABLE deployments (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	number BIGINT NOT NULL,
	action VARCHAR(16) COLLATE "C" NOT NULL,
	profile_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	profile_name TEXT NOT NULL,
	revision BIGINT NOT NULL,
	sha256_sealed BYTEA NOT NULL,
	sha256_key_id VARCHAR(16) COLLATE "C" NOT NULL,
	size BIGINT NOT NULL,
	owner_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	filename TEXT NOT NULL,
	place TEXT,
	outcome VARCHAR(16) COLLATE "C" NOT NULL,
	failed_step VARCHAR(16) COLLATE "C",
	message TEXT,
	steps TEXT NOT NULL,
	restart TEXT,
	confirmation VARCHAR(16) COLLATE "C" NOT NULL,
	confirmation_message TEXT,
	confirmation_by VARCHAR(24) COLLATE "C",
	confirmation_at VARCHAR(24) COLLATE "C",
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	ended_at VARCHAR(24) COLLATE "C",
	template_uuid VARCHAR(36) COLLATE "C",
	template_revision BIGINT,
	template_name TEXT,
	load TEXT,
	used_by TEXT,
	CONSTRAINT pk_deployments PRIMARY KEY (uuid),
	CONSTRAINT uq_deployments_mac_number UNIQUE (mac, number)
);

CREATE INDEX ix_deployments_created_at_uuid ON deployments (created_at, uuid);

CREATE INDEX ix_deployments_mac_created_at_uuid ON deployments (mac, created_at, uuid);

CREATE INDEX ix_deployments_outcome ON deployments (outcome);

CREATE INDEX ix_deployments_owner_uuid_created_at_uuid ON deployments (owner_uuid, created_at, uuid);

CREATE INDEX ix_deployments_profile_uuid_created_at_uuid ON deployments (profile_uuid, created_at, uuid);

CREATE INDEX ix_deployments_profile_uuid_revision ON deployments (profile_uuid, revision);

CREATE INDEX ix_deployments_sha256_key_id_uuid ON deployments (sha256_key_id, uuid);

CREATE INDEX ix_deployments_user_uuid_created_at_uuid ON deployments (user_uuid, created_at, uuid);

CREATE TABLE current_deployments (
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	number BIGINT NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	owner_uuid VARCHAR(36) COLLATE "C" DEFAULT '' NOT NULL,
	profile_name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_current_deployments PRIMARY KEY (mac)
);

CREATE INDEX ix_current_deployments_created_at_uuid ON current_deployments (created_at, uuid);

CREATE INDEX ix_current_deployments_owner_uuid_mac ON current_deployments (owner_uuid, mac);

CREATE TABLE leases (
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	holder VARCHAR(36) COLLATE "C" NOT NULL,
	process VARCHAR(36) COLLATE "C" NOT NULL,
	fence BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	CONSTRAINT pk_leases PRIMARY KEY (mac)
);

CREATE TABLE batches (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	action VARCHAR(16) COLLATE "C" NOT NULL,
	profile_uuid VARCHAR(36) COLLATE "C",
	profile_name TEXT,
	revision BIGINT,
	model TEXT,
	location TEXT,
	software_type TEXT,
	at_once BIGINT NOT NULL,
	per_minute BIGINT,
	stop_after_failures BIGINT,
	wait_minutes BIGINT NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	state VARCHAR(16) COLLATE "C" NOT NULL,
	message TEXT,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	ended_at VARCHAR(24) COLLATE "C",
	template TEXT,
	start_at VARCHAR(24) COLLATE "C",
	first BIGINT,
	first_minutes BIGINT NOT NULL,
	undo_on_stop BOOLEAN NOT NULL,
	only_changed BOOLEAN NOT NULL,
	undo_of VARCHAR(36) COLLATE "C",
	newest BOOLEAN NOT NULL,
	code TEXT,
	holder VARCHAR(36) COLLATE "C" NOT NULL,
	process VARCHAR(36) COLLATE "C" NOT NULL,
	fence BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	begins_at BIGINT NOT NULL,
	pinned TEXT,
	CONSTRAINT pk_batches PRIMARY KEY (uuid)
);

CREATE INDEX ix_batches_created_at_uuid ON batches (created_at, uuid);

CREATE INDEX ix_batches_ended_at ON batches (ended_at);

CREATE INDEX ix_batches_undo_of ON batches (undo_of);

CREATE TABLE desks (
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	default_profile_uuid VARCHAR(36) COLLATE "C",
	hotdesk BOOLEAN NOT NULL,
	turn BIGINT NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C",
	profile_uuid VARCHAR(36) COLLATE "C",
	since VARCHAR(24) COLLATE "C",
	until VARCHAR(24) COLLATE "C",
	due VARCHAR(16) COLLATE "C",
	change_uuid VARCHAR(36) COLLATE "C",
	change_user_uuid VARCHAR(36) COLLATE "C",
	not_before BIGINT NOT NULL,
	left_user_uuid VARCHAR(36) COLLATE "C",
	extension_uuid VARCHAR(36) COLLATE "C",
	CONSTRAINT pk_desks PRIMARY KEY (mac)
);

CREATE INDEX ix_desks_change_user_uuid ON desks (change_user_uuid);

CREATE INDEX ix_desks_change_uuid ON desks (change_uuid);

CREATE INDEX ix_desks_due ON desks (due);

CREATE INDEX ix_desks_extension_uuid ON desks (extension_uuid);

CREATE INDEX ix_desks_until ON desks (until);

CREATE INDEX ix_desks_user_uuid ON desks (user_uuid);

CREATE TABLE phone_states (
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	state VARCHAR(16) COLLATE "C" NOT NULL,
	since VARCHAR(24) COLLATE "C" NOT NULL,
	seen_at VARCHAR(24) COLLATE "C",
	answers BOOLEAN,
	misses BIGINT NOT NULL,
	reported_mac VARCHAR(17) COLLATE "C",
	reported_model TEXT,
	reported_load TEXT,
	serial TEXT,
	is_registered BOOLEAN,
	file VARCHAR(16) COLLATE "C" NOT NULL,
	is_other BOOLEAN NOT NULL,
	expected_load TEXT,
	runs_expected BOOLEAN,
	states TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_phone_states PRIMARY KEY (mac),
	CONSTRAINT fk_phone_states_mac FOREIGN KEY(mac) REFERENCES phones (mac) ON DELETE CASCADE
);

CREATE INDEX ix_phone_states_states_reported_load_mac ON phone_states (states, reported_load, mac);

CREATE TABLE phone_state_changes (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	state VARCHAR(16) COLLATE "C" NOT NULL,
	at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_phone_state_changes PRIMARY KEY (uuid),
	CONSTRAINT fk_phone_state_changes_mac FOREIGN KEY(mac) REFERENCES phones (mac) ON DELETE CASCADE
);

CREATE INDEX ix_phone_state_changes_at_uuid ON phone_state_changes (at, uuid);

CREATE INDEX ix_phone_state_changes_mac_at_uuid ON phone_state_changes (mac, at, uuid);

CREATE TABLE user_extensions (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	extension_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_user_extensions PRIMARY KEY (uuid),
	CONSTRAINT uq_user_extensions_user_uuid_extension_uuid UNIQUE (user_uuid, extension_uuid),
	CONSTRAINT fk_user_extensions_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE,
	CONSTRAINT fk_user_extensions_extension_uuid FOREIGN KEY(extension_uuid) REFERENCES extensions (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_user_extensions_created_at_uuid ON user_extensions (created_at, uuid);

CREATE INDEX ix_user_extensions_extension_uuid_created_at_uuid ON user_extensions (extension_uuid, created_at, uuid);

CREATE TABLE vendor_users (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	pin_code TEXT NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_vendor_users PRIMARY KEY (uuid),
	CONSTRAINT uq_vendor_users_user_uuid UNIQUE (user_uuid),
	CONSTRAINT fk_vendor_users_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE
);

CREATE TABLE passwords (
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	hash TEXT NOT NULL,
	CONSTRAINT pk_passwords PRIMARY KEY (user_uuid),
	CONSTRAINT fk_passwords_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE
);

CREATE TABLE username_looks (
	look TEXT COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	CONSTRAINT pk_username_looks PRIMARY KEY (look),
	CONSTRAINT fk_username_looks_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_username_looks_user_uuid ON username_looks (user_uuid);

CREATE TABLE assignments (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	perm_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_assignments PRIMARY KEY (uuid),
	CONSTRAINT uq_assignments_user_uuid UNIQUE (user_uuid),
	CONSTRAINT fk_assignments_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE,
	CONSTRAINT fk_assignments_perm_uuid FOREIGN KEY(perm_uuid) REFERENCES permissions (uuid) ON DELETE RESTRICT
);

CREATE INDEX ix_assignments_perm_uuid ON assignments (perm_uuid);

CREATE TABLE sessions (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	token_id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	ends_at BIGINT NOT NULL,
	previous_token_id VARCHAR(36) COLLATE "C",
	exchanged_at BIGINT NOT NULL,
	CONSTRAINT pk_sessions PRIMARY KEY (uuid),
	CONSTRAINT fk_sessions_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_sessions_user_uuid ON sessions (user_uuid);

CREATE TABLE api_tokens (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	read_only BOOLEAN NOT NULL,
	expires_at VARCHAR(24) COLLATE "C",
	last_used_at VARCHAR(24) COLLATE "C",
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	hash VARCHAR(81) COLLATE "C" NOT NULL,
	CONSTRAINT pk_api_tokens PRIMARY KEY (uuid),
	CONSTRAINT uq_api_tokens_user_uuid_name UNIQUE (user_uuid, name),
	CONSTRAINT fk_api_tokens_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE,
	CONSTRAINT uq_api_tokens_hash UNIQUE (hash)
);

CREATE INDEX ix_api_tokens_user_uuid_created_at_uuid ON api_tokens (user_uuid, created_at, uuid);

CREATE TABLE login_addresses (
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	address VARCHAR(45) COLLATE "C" NOT NULL,
	last_at BIGINT NOT NULL,
	CONSTRAINT pk_login_addresses PRIMARY KEY (user_uuid, address),
	CONSTRAINT fk_login_addresses_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_login_addresses_address_last_at ON login_addresses (address, last_at);

CREATE TABLE contact_terms (
	term TEXT COLLATE "C" NOT NULL,
	contact_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	CONSTRAINT pk_contact_terms PRIMARY KEY (term, contact_uuid),
	CONSTRAINT fk_contact_terms_contact_uuid FOREIGN KEY(contact_uuid) REFERENCES company_contacts (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_contact_terms_contact_uuid_term ON contact_terms (contact_uuid, term);

CREATE TABLE personal_contacts (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	name TEXT NOT NULL,
	work TEXT,
	mobile TEXT,
	home TEXT,
	email TEXT,
	ringtone TEXT,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	CONSTRAINT pk_personal_contacts PRIMARY KEY (uuid),
	CONSTRAINT fk_personal_contacts_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_personal_contacts_user_uuid_created_at_uuid ON personal_contacts (user_uuid, created_at, uuid);

CREATE TABLE profiles (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	user_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	compatible_models TEXT NOT NULL,
	software_type VARCHAR(4) COLLATE "C",
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	updated_at VARCHAR(24) COLLATE "C" NOT NULL,
	search TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_profiles PRIMARY KEY (uuid),
	CONSTRAINT fk_profiles_user_uuid FOREIGN KEY(user_uuid) REFERENCES users (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_profiles_created_at_uuid ON profiles (created_at, uuid);

CREATE INDEX ix_profiles_user_uuid_created_at_uuid ON profiles (user_uuid, created_at, uuid);

CREATE TABLE batch_phones (
	batch_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	position BIGINT NOT NULL,
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	attempt_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	state VARCHAR(16) COLLATE "C" NOT NULL,
	tries BIGINT NOT NULL,
	cut_off BIGINT NOT NULL,
	fence BIGINT NOT NULL,
	not_before BIGINT NOT NULL,
	waiting_since VARCHAR(24) COLLATE "C",
	deployment_uuid VARCHAR(36) COLLATE "C",
	message TEXT,
	started_at VARCHAR(24) COLLATE "C",
	ended_at VARCHAR(24) COLLATE "C",
	profile_uuid VARCHAR(36) COLLATE "C",
	undoes VARCHAR(36) COLLATE "C",
	attempts TEXT NOT NULL,
	planned_profile VARCHAR(36) COLLATE "C",
	planned_revision BIGINT,
	CONSTRAINT pk_batch_phones PRIMARY KEY (batch_uuid, position),
	CONSTRAINT uq_batch_phones_batch_uuid_mac UNIQUE (batch_uuid, mac),
	CONSTRAINT fk_batch_phones_batch_uuid FOREIGN KEY(batch_uuid) REFERENCES batches (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_batch_phones_batch_uuid_state_not_before_position ON batch_phones (batch_uuid, state, not_before, position);

CREATE TABLE profile_revisions (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	profile_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	number BIGINT NOT NULL,
	sha256_sealed BYTEA NOT NULL,
	sha256_key_id VARCHAR(16) COLLATE "C" NOT NULL,
	size BIGINT NOT NULL,
	created_at VARCHAR(24) COLLATE "C" NOT NULL,
	created_by VARCHAR(36) COLLATE "C" NOT NULL,
	template TEXT COLLATE "C",
	cnf_xml_sealed BYTEA NOT NULL,
	cnf_xml_key_id VARCHAR(16) COLLATE "C" NOT NULL,
	by_level_0 BOOLEAN NOT NULL,
	CONSTRAINT pk_profile_revisions PRIMARY KEY (uuid),
	CONSTRAINT uq_profile_revisions_profile_uuid_number UNIQUE (profile_uuid, number),
	CONSTRAINT fk_profile_revisions_profile_uuid FOREIGN KEY(profile_uuid) REFERENCES profiles (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_profile_revisions_cnf_xml_key_id_uuid ON profile_revisions (cnf_xml_key_id, uuid);

CREATE INDEX ix_profile_revisions_sha256_key_id_uuid ON profile_revisions (sha256_key_id, uuid);

CREATE INDEX ix_profile_revisions_template ON profile_revisions (template);

CREATE TABLE renderings (
	uuid VARCHAR(36) COLLATE "C" NOT NULL,
	profile_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	mac VARCHAR(17) COLLATE "C" NOT NULL,
	number BIGINT NOT NULL,
	size BIGINT NOT NULL,
	content_sealed BYTEA NOT NULL,
	content_key_id VARCHAR(16) COLLATE "C" NOT NULL,
	CONSTRAINT pk_renderings PRIMARY KEY (uuid),
	CONSTRAINT fk_renderings_profile_uuid FOREIGN KEY(profile_uuid) REFERENCES profiles (uuid) ON DELETE CASCADE
);

CREATE INDEX ix_renderings_content_key_id_uuid ON renderings (content_key_id, uuid);

CREATE INDEX ix_renderings_mac_number ON renderings (mac, number);

CREATE INDEX ix_renderings_profile_uuid ON renderings (profile_uuid);

CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	PRIMARY KEY (version_num)
);
