# Everything runs in a virtual environment that this file makes: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Separate environments for the tools that the service does not need.
BENCH := $(VENV)-bench/bin
DOCS := $(VENV)-docs/bin
BROWSER := $(VENV)-browser/bin
AUDIT := $(VENV)-audit/bin

# Bytecode is kept, because the tests of commands import the service in new processes.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: --keep audit bench bench-batch bench-fleet bench-lists bench-pages bench-scale bench-phone-files bench-phone-pages bench-retention bench-rehearsals bench-rollouts bench-search bench-trail bytecode check check-console clean coverage demo dist docs faults fix fuzz-parsers help history hostile locale lock mutations pictures programs races schemathesis-long slow test test-browser test-chan-sccp test-clients test-console test-day test-directory test-fail2ban test-asterisk test-asterisk-lines test-ftp-servers test-metrics test-nginx test-oidc test-patroni test-pgbouncer test-pythons test-tftp-clients unit weight write-docs

help:
	@awk -F ':.*## ' '/^# Long forms/ { printf "\nLong forms, each for one subject; some take minutes or install Debian packages:\n" } \
	  /^[a-z-]+:.*## / { printf "  %-18s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/installed-run  ## switch a simulated phone, step by step; make demo -- --keep keeps serving, with an office
	$(BIN)/phoneprov demo $(filter --keep,$(MAKECMDGOALS))

# The option of the target demo.
--keep:
	@:

# More than processors: half of the time of the tests is waiting, for deadlines, leases and restarts.
WORKERS ?= 6

test: $(VENV)/installed-dev  ## everything: format, lint, types, import contracts, all tests
	$(MAKE) --no-print-directory --jobs 2 check bytecode programs
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: $(VENV)/installed-dev  ## format, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Compiles the tests while the types are checked on one processor; else each worker compiles them.
bytecode: $(VENV)/installed-dev
	$(BIN)/python -m pytest --collect-only -qq >/dev/null || true

# The browser and Node.js that the tests of the console use. They are installed where this machine
# can: on Debian, as root. Else those tests are skipped, with the reason.
programs:
	@{ { command -v chromium || command -v google-chrome; } && command -v node; } >/dev/null \
	  || { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && $(APT) update && $(APT) install --yes chromium nodejs; } \
	  || echo "Chromium or Node.js is not installed: tests of the console are skipped" >&2
APT := DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq -o Acquire::Retries=3 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=120

unit: $(VENV)/installed-dev  ## the unit tests alone, in seconds
	$(BIN)/python -m pytest -q tests/unit

# The texts of the pages for phones; LANGUAGE=pt begins another language.
LOCALE := src/phoneprov_http/phone/locale
POT := $(LOCALE)/phoneprov.pot

locale: $(VENV)/installed-dev  ## extract the texts of the pages for phones, compile the translations, check both
	$(BIN)/pybabel -q extract --no-default-keywords -k say -k later --omit-header --no-location --no-wrap \
	  --sort-output --output $(POT) src/phoneprov_http/phone
	test -z "$(LANGUAGE)" || $(BIN)/pybabel -q init --no-wrap -D phoneprov -i $(POT) -d $(LOCALE) -l "$(LANGUAGE)"
	$(BIN)/pybabel -q update --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --no-wrap \
	  -D phoneprov -i $(POT) -d $(LOCALE)
	$(BIN)/pybabel -q compile -D phoneprov -d $(LOCALE)
	$(BIN)/python -m pytest -q tests/unit/features/phone_pages/test_catalogs.py

weight: $(VENV)/installed-dev  ## lines of code, and the modules that a request runs through, with their limits
	$(BIN)/python -m pytest -q -p no:xdist tests/weight

# The tests that compare parts of the documentation with the service write these parts.
write-docs: $(VENV)/installed-dev  ## write what pages repeat from the service: replies, settings, types, drawings
	PHONEPROV_WRITE_DOCS=1 $(BIN)/python -m pytest -q -n 2 $$(grep -rl --include='test_*.py' 'environ.*PHONEPROV_WRITE_DOCS' tests)

fix: $(VENV)/installed-dev  ## format the code and fix simple lint findings
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

coverage: $(VENV)/installed-dev  ## all tests with a coverage report; takes twice as long
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term

docs: $(VENV)-docs/installed  ## the documentation as a site in build/site; a broken link is an error
	$(DOCS)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs build/site
	@! grep -rlE '<(script|img|iframe)[^>]+src="(https?:)?//|<link[^>]+href="(https?:)?//' build/site --include='*.html' \
	  || { echo "these pages need another host to be read" >&2; exit 1; }
	@echo "build/site/index.html"

dist: $(VENV)/installed-dev  ## build, install and test wheel and sdist in dist/
	PHONEPROV_TESTS=long $(BIN)/python -m pytest -q tests/packages
	$(BIN)/python -m hatchling build

lock:  ## resolve the dependencies again, for every platform, with hashes
	$(PYTHON) -m pip install --quiet uv
	for set in "run pyproject.toml" "build --group build" "dev pyproject.toml --group dev" "bench pyproject.toml --group bench" \
	  "docs pyproject.toml --group docs" "browser pyproject.toml --group browser" "audit pyproject.toml --group audit" "oidc --group oidc"; do set -- $$set; \
	  name=$$1; shift; $(PYTHON) -m uv pip compile --quiet --universal --upgrade --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-header --no-annotate \
	    $$@ --output-file requirements/$$name.txt || exit 1; done

clean:  ## remove virtual environments and build output
	rm -rf $(VENV) $(VENV)-bench $(VENV)-browser $(VENV)-audit $(VENV)-docs docs/reference/python build dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Long forms.

schemathesis-long: $(VENV)/installed-dev  ## 50,000 random requests, checked against the OpenAPI document
	$(BIN)/python bench/fuzz.py --cases 50000

bench: $(VENV)-bench/installed $(VENV)/installed-run  ## speed compared with a FastAPI service; writes docs/explanation/performance.md
	@command -v wrk >/dev/null || { apt-get update && apt-get install --yes wrk; }
	$(BENCH)/python -m bench --service $(BIN)/python --write

bench-batch: $(VENV)/installed-dev  ## a batch of 1,000 simulated phones compared with an aioftp loop
	$(BIN)/python -m bench.batch_rate

bench-pages: $(VENV)/installed-dev  ## pages by key from a thousand to four million rows
	$(BIN)/python -m bench.questions.pages --rows 1000 --rows 100000 --rows 4000000

# The databases are kept, 15 GB of them; make clean removes them with build.
SCALE := $(CURDIR)/build/scale

bench-scale: $(VENV)/installed-dev  ## one million phones and four million deployments; writes docs/explanation/scale.md
	for database in sqlite postgresql; do \
	  { test -e $(SCALE)/$$database/filled.json || $(BIN)/python -m bench.questions.scale fill $(SCALE)/$$database --database $$database; } \
	  && $(BIN)/python -m bench.questions.scale measure $(SCALE)/$$database --database $$database --write || exit 1; done

bench-search: $(VENV)/installed-dev  ## duration of a search among 100,000 phones
	$(BIN)/python -m bench.questions.search

bench-trail: $(VENV)/installed-dev  ## pages of an audit trail of a million entries, for each combination of filters
	$(BIN)/python -m bench.questions.trail

bench-retention: $(VENV)/installed-dev  ## retention passes over up to 3,000 deployments a phone: the time grows linearly
	$(BIN)/python -m bench.questions.retention

bench-rehearsals: $(VENV)/installed-dev  ## 20 random plans of up to 2,000 phones with planted faults: rehearsed, then run; takes hours
	PHONEPROV_TESTS=long $(BIN)/python -m pytest -q -p no:xdist tests/faults/test_rehearsals.py

bench-rollouts: $(VENV)/installed-dev  ## renderings a second, a plan and a rehearsal over 2,000 phones
	$(BIN)/python -m bench.questions.rollouts

bench-fleet: $(VENV)/installed-dev  ## GET /fleet with 20,000 phones and 300,000 deployments, and a round of the watch over them
	for part in numbers watch; do for database in sqlite postgresql; do \
	  $(BIN)/python -m bench.questions.fleet $$part --database $$database || exit 1; done; done

bench-phone-pages: $(VENV)/installed-dev  ## pages for phones, directory searches, 500 logins in a minute
	$(BIN)/python -m bench.questions.phone_pages

bench-phone-files: $(VENV)/installed-dev  ## fetches of phones by HTTP beside a read over the API, by TFTP beside tftpd-hpa
	@{ command -v wrk && command -v in.tftpd && command -v nginx; } >/dev/null \
	  || { apt-get update && apt-get install --yes --no-install-recommends wrk tftpd-hpa nginx-light curl; }
	$(BIN)/python -m bench.questions.phone_fetches
	$(BIN)/python -m bench.questions.phone_files

bench-lists: $(VENV)/installed-dev  ## memory for a list of 100,000 records
	$(BIN)/python -m bench.questions.list_memory

pictures: $(VENV)/installed-dev programs  ## the pictures of README and site: the console in Chromium, a phone's screens
	PYTHONPATH=tests $(BIN)/python bench/pictures.py

mutations: $(VENV)/installed-dev  ## 200 changes of the source, drawn with a seed, that tests must notice; takes an hour
	nice -n 10 $(BIN)/python -m bench.mutations

test-browser: $(VENV)/installed-dev programs  ## the page at /docs in a real browser; installs Chromium if necessary
	$(BIN)/python -m pytest -q tests/browser/check_docs.py

test-tftp-clients: $(VENV)/installed-dev  ## our TFTP server with real clients, through losses too; installs them if necessary
	@{ command -v tftp && command -v atftp && command -v busybox && command -v curl; } >/dev/null \
	  || { apt-get update && apt-get install --yes tftp-hpa atftp busybox curl; }
	PHONEPROV_TEST_TFTP_CLIENTS=1 $(BIN)/python -m pytest -q tests/contract/provisioning

test-console: check-console $(VENV)-browser/installed programs  ## all checks of pages in a browser: types, the console in a real browser, with axe, also under a prefix of nginx; installs both if necessary
	@{ command -v nginx || command -v /usr/sbin/nginx; } >/dev/null \
	  || { apt-get update && apt-get install --yes nginx-light; }
	$(BROWSER)/python -m pytest -q -p no:xdist tests/contract/http/test_console_modules.py tests/browser/check_docs.py tests/browser/test_console_paths.py tests/browser/console/check_*.py

test-day: $(VENV)-browser/installed programs  ## the day of an operator with 400 phones and 450 people, by labels and roles, with a stopwatch
	$(BROWSER)/python -m pytest -q -p no:xdist tests/browser/day/check_day.py

check-console:  ## types of the console's modules (JSDoc); needs Node.js
	@command -v npx >/dev/null || { echo "npx is not installed; nothing was checked" >&2; exit 1; }
	npx --yes --package typescript@5 tsc -p src/phoneprov_http/console/jsconfig.json

test-pgbouncer: $(VENV)/installed-dev  ## the stores over a real pgbouncer; installs it if necessary
	@{ command -v pgbouncer || command -v /usr/sbin/pgbouncer; } >/dev/null \
	  || { apt-get update && apt-get install --yes pgbouncer; }
	PHONEPROV_TEST_PGBOUNCER=1 $(BIN)/python -m pytest -q tests/contract/sql tests/contract/stores -k pgbouncer

test-metrics: $(VENV)/installed-dev  ## the metrics and the files in deploy/ through promtool; installs prometheus if necessary
	@command -v promtool >/dev/null || { apt-get update && apt-get install --yes --no-install-recommends prometheus; }
	PHONEPROV_TESTS=long PHONEPROV_TEST_PROMTOOL=1 $(BIN)/python -m pytest -q -p no:xdist tests/contract/metrics

test-patroni: $(VENV)/installed-dev  ## failover with Patroni, etcd and HAProxy; installs them if necessary
	@{ test -x /usr/bin/patroni && test -x /usr/bin/etcd && test -x /usr/sbin/haproxy && ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1 \
	  || { apt-get update && apt-get install --yes --no-install-recommends patroni etcd-server haproxy postgresql; }
	$(BIN)/python -m pytest -q -p no:xdist tests/patroni_rig/check_patroni.py

test-directory: $(VENV)/installed-dev  ## people of a real slapd over StartTLS and of a real Active Directory (Samba) in a network namespace; installs both if necessary (Debian, as root)
	@{ test -x /usr/sbin/slapd && test -x /usr/sbin/samba && command -v ldapsearch && command -v samba-tool; } >/dev/null \
	  || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends slapd ldap-utils samba-ad-dc samba-ad-provision iproute2; }
	$(BIN)/python -m pytest -q -p no:xdist tests/directory/check_slapd.py
	unshare --net --mount $(BIN)/python -m pytest -q -p no:xdist tests/directory/check_active_directory.py

OIDC := $(CURDIR)/build/oidc

test-oidc: $(VENV)-browser/installed $(OIDC)/installed programs  ## sign-in with npm oidc-provider and PyPI oidc-provider-mock, on another site, in Chromium, below a prefix of nginx; installs them if necessary (needs npm)
	@{ command -v nginx || command -v /usr/sbin/nginx; } >/dev/null \
	  || { apt-get update && apt-get install --yes nginx-light; }
	$(BROWSER)/python -m pytest -q -p no:xdist tests/browser/console/check_provider.py
	PHONEPROV_TEST_OIDC=$(OIDC) $(BROWSER)/python -m pytest -q -p no:xdist tests/oidc/check_providers.py

$(OIDC)/installed: tests/oidc/package.json tests/oidc/package-lock.json requirements/oidc.txt
	$(PYTHON) -m venv $(OIDC)/venv
	$(OIDC)/venv/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements/oidc.txt
	cp tests/oidc/package.json tests/oidc/package-lock.json $(OIDC)
	npm ci --silent --no-fund --no-audit --ignore-scripts --prefix $(OIDC)
	@touch $@

test-fail2ban: $(VENV)/installed-dev  ## the filter in deploy/ through fail2ban-regex; installs fail2ban if necessary
	@command -v fail2ban-regex >/dev/null || { apt-get update && apt-get install --yes --no-install-recommends fail2ban; }
	PHONEPROV_TEST_FAIL2BAN=1 $(BIN)/python -m pytest -q -p no:xdist tests/unit/test_fail2ban.py

test-nginx: $(VENV)/installed-dev  ## the documented nginx block over two hosts that restart; installs nginx if necessary
	@{ command -v nginx || command -v /usr/sbin/nginx; } >/dev/null \
	  || { apt-get update && apt-get install --yes nginx-light; }
	PHONEPROV_TEST_NGINX=1 $(BIN)/python -m pytest -q -p no:xdist tests/faults/test_nginx.py

races: $(VENV)/installed-dev  ## races for accounts and sessions, for minutes, with measurements
	PHONEPROV_TESTS=long $(BIN)/python -m pytest -q -p no:xdist tests/races tests/contract/auth

faults: $(VENV)/installed-dev  ## hundreds of crashes, restarts, full disks and shutdowns, with measurements
	PHONEPROV_TESTS=long $(BIN)/python -m pytest -q -p no:xdist tests/faults

history: $(VENV)/installed-dev  ## 5,000 random operations on 300 phones as of 200 moments; 10,000 phones in two seconds
	PHONEPROV_TESTS=long $(BIN)/python -m pytest -q -p no:xdist tests/unit/features/history tests/contract/stores/test_history.py

hostile: $(VENV)/installed-dev  ## all hostile requests, with their cost
	PHONEPROV_TESTS=long $(BIN)/python -m pytest -q -p no:xdist tests/security

# Debian trixie has Python 3.13, sid has 3.14; debootstrap fills a folder with each, from the mirror
# of this machine.
PYTHON_ROOTS := $(CURDIR)/build/roots

test-pythons: $(PYTHON_ROOTS)/trixie/filled $(PYTHON_ROOTS)/sid/filled  ## demo, serve and the unit tests on Python 3.13 and 3.14 (Debian, as root)
	for suite in trixie sid; do tests/run_in_root.sh $(PYTHON_ROOTS)/$$suite || exit 1; done

$(PYTHON_ROOTS)/%/filled:
	@command -v debootstrap >/dev/null || { apt-get update && apt-get install --yes debootstrap; }
	mkdir -p $(@D)
	debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv $* $(@D) \
	  $$(apt-get indextargets --format '$$(REPO_URI)' "Codename: $$(. /etc/os-release && echo $$VERSION_CODENAME)" | head -n 1)
	touch $@

# They conflict with each other, so they are unpacked and not installed.
FTP_PACKAGES := vsftpd proftpd-core proftpd-mod-crypto libwrap0 libhiredis0.14 libmemcached11 libmemcachedutil2 libhashkit2 libpcre2-posix3 pure-ftpd pure-ftpd-common
FTP_SERVERS := $(CURDIR)/build/ftp-servers

test-ftp-servers: $(VENV)/installed-dev $(FTP_SERVERS)/usr/sbin/proftpd  ## uploads to real vsftpd, ProFTPD, Pure-FTPd and ftp-srv (Debian, as root, with npm)
	PHONEPROV_TEST_FTP_SERVERS=$(FTP_SERVERS) $(BIN)/python -m pytest -q tests/contract/ftp -k "vsftpd or proftpd or pureftpd or ftpsrv"

$(FTP_SERVERS)/usr/sbin/proftpd:
	mkdir -p $(FTP_SERVERS)
	cd $(FTP_SERVERS) && apt-get update && apt-get download $(FTP_PACKAGES) \
	  && for package in *.deb; do dpkg-deb --extract $$package . && rm $$package; done
	npm install --silent --no-fund --no-audit --ignore-scripts --prefix $(FTP_SERVERS) ftp-srv@4.6.3
	touch $@

CLIENTS := $(CURDIR)/build/clients

test-clients: $(VENV)/installed-dev $(CLIENTS)/installed  ## generated clients of the OpenAPI document (needs Java and npm)
	PHONEPROV_TEST_CLIENTS=$(CLIENTS) $(BIN)/python -m pytest -q tests/clients/check_clients.py

$(CLIENTS)/installed:
	@command -v go >/dev/null || { apt-get update && apt-get install --yes golang-go; }
	python3 -m venv $(CLIENTS)
	$(CLIENTS)/bin/pip install openapi-python-client openapi-generator-cli ruff pydantic python-dateutil urllib3
	npm install --silent --no-fund --no-audit --ignore-scripts --prefix $(CLIENTS) openapi-typescript@7 typescript@5 \
	  openapi-zod-client@1 zod@3 @zodios/core@10 axios@1
	touch $@

# Debian has Asterisk 16 in bullseye, a newer one in sid alone; debootstrap fills a folder with each,
# and with SIPp.
ASTERISK := $(CURDIR)/build/asterisk-root
ASTERISK_NEW := $(CURDIR)/build/asterisk-root-sid
$(ASTERISK)/filled: ASTERISK_SUITE := bullseye
$(ASTERISK_NEW)/filled: ASTERISK_SUITE := sid

test-asterisk: $(VENV)/installed-dev $(ASTERISK)/filled  ## restarts through a real Asterisk with SIPp (Debian, as root)
	PHONEPROV_TEST_ASTERISK=$(ASTERISK) $(BIN)/python -m pytest -q tests/asterisk/check_asterisk.py

$(ASTERISK)/filled $(ASTERISK_NEW)/filled:
	@command -v debootstrap >/dev/null || { apt-get update && apt-get install --yes debootstrap; }
	rm -rf --one-file-system $(@D) && mkdir -p $(@D)
	debootstrap --variant=minbase --include=asterisk,sip-tester $(ASTERISK_SUITE) $(@D)
	touch $@

# chan_sccp is in no release of Debian: it is built inside that folder, with the packages of the how-to
# of lines. CHAN_SCCP may be a clone.
CHAN_SCCP := https://github.com/chan-sccp/chan-sccp
CHAN_SCCP_NEEDS := asterisk-dev asterisk-voicemail build-essential gettext libxml2-dev libssl-dev libltdl-dev binutils-dev

test-chan-sccp: $(VENV)/installed-dev $(ASTERISK)/usr/src/chan-sccp/installed  ## restarts through a real chan_sccp with an SCCP phone of ours (Debian, as root)
	PHONEPROV_TEST_ASTERISK=$(ASTERISK) $(BIN)/python -m pytest -q tests/asterisk/check_chan_sccp.py

test-asterisk-lines: $(VENV)/installed-dev $(ASTERISK)/usr/src/chan-sccp/installed $(ASTERISK_NEW)/filled  ## lines that follow users, and what emergency calls present: chan_sccp with 212 SCCP phones of ours, and PJSIP of two releases, ask a real service (Debian, as root)
	PHONEPROV_TEST_ASTERISK=$(ASTERISK) $(BIN)/python -m pytest -q tests/asterisk/check_lines.py tests/asterisk/check_pjsip_objects.py tests/asterisk/check_emergency.py tests/asterisk/check_drills.py
	PHONEPROV_TEST_ASTERISK=$(ASTERISK_NEW) $(BIN)/python -m pytest -q tests/asterisk/check_asterisk.py tests/asterisk/check_pjsip_objects.py tests/asterisk/check_emergency.py tests/asterisk/check_drills.py
	@for one in ip ss openssl; do command -v $$one >/dev/null || { apt-get update && apt-get install --yes iproute2 openssl; }; done
	PHONEPROV_TEST_ASTERISK=$(ASTERISK) unshare --net --mount $(BIN)/python -m pytest -q -p no:xdist tests/asterisk/check_how_to.py
	for root in $(ASTERISK) $(ASTERISK_NEW); do \
	  PHONEPROV_TEST_ASTERISK=$$root unshare --net --mount $(BIN)/python -m pytest -q -p no:xdist tests/asterisk/check_how_to_pjsip.py || exit 1; done

$(ASTERISK)/usr/src/chan-sccp/installed: $(ASTERISK)/filled
	chroot $(ASTERISK) apt-get update
	chroot $(ASTERISK) apt-get install --yes --no-install-recommends $(CHAN_SCCP_NEEDS)
	rm -rf $(@D) && git clone --depth 1 $(CHAN_SCCP) $(@D)
	chroot $(ASTERISK) sh -c 'cd /usr/src/chan-sccp && ./configure --prefix=/usr --with-asterisk=/usr --disable-debug && make && make install'
	touch $@

fuzz-parsers: $(VENV)/installed-dev  ## a million random inputs for every parser of untrusted data
	PHONEPROV_TESTS=long $(BIN)/python -m pytest -q -p no:xdist tests/security/test_parsers.py

slow: $(VENV)/installed-dev  ## response times with 2,000 slow clients
	PHONEPROV_TESTS=long $(BIN)/python -m pytest -q -p no:xdist tests/security/test_slow_crowd.py tests/security/test_slow_readers.py

audit: $(VENV)-audit/installed  ## known vulnerabilities of the dependencies (asks PyPI), and bandit over the sources
	$(AUDIT)/python bench/audit.py

# Environments.

# pip checks every file it installs against the hashes in the lock. The lock is complete, so pip
# resolves nothing: it takes coverage[toml] for another package than the locked coverage, and refuses
# a newer version of it, which has no hash.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "phoneprov needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed-run: requirements/run.txt requirements/build.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements/run.txt -r requirements/build.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-dev: requirements/dev.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/installed-run

$(VENV)-audit/installed: requirements/audit.txt
	$(PYTHON) -m venv $(VENV)-audit
	$(AUDIT)/python -m pip install --quiet --no-deps --require-hashes -r requirements/audit.txt
	@touch $@

$(VENV)-bench/installed: requirements/bench.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)-bench
	$(BENCH)/python -m pip install --quiet --no-deps --require-hashes -r requirements/bench.txt
	$(BENCH)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)-browser/installed: requirements/browser.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)-browser
	$(BROWSER)/python -m pip install --quiet --no-deps --require-hashes -r requirements/browser.txt
	$(BROWSER)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)-docs/installed: requirements/docs.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)-docs
	$(DOCS)/python -m pip install --quiet --no-deps --require-hashes -r requirements/docs.txt
	$(DOCS)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
