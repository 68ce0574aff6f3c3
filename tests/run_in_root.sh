#!/bin/sh
# run_in_root.sh ROOT: the demo, serve and the unit tests with the Python of a Debian root.
# The project is mounted read-only; mounts end with this process.
set -eu
root=$1
project=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${PHONEPROV_IN_ROOT:-}" ]; then
  PHONEPROV_IN_ROOT=1 exec unshare --mount "$0" "$root"
fi
mkdir -p "$root/srv/phoneprov"
mount --bind --read-only "$project" "$root/srv/phoneprov"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
  if [ -e "$file" ]; then cp --dereference "$file" "$root$file"; fi
done
exec env --unset=PHONEPROV_IN_ROOT --unset=PIP_FIND_LINKS PYTHONDONTWRITEBYTECODE=1 chroot "$root" sh -euc '
  cd /srv/phoneprov
  python3 --version
  locked=$(cat requirements/*.txt pyproject.toml | sha256sum)
  if [ "$(cat /opt/phoneprov/locked 2>/dev/null)" != "$locked" ]; then
    python3 -m venv --clear /opt/phoneprov
    # What runs in production is installed from wheels alone.
    /opt/phoneprov/bin/pip install --quiet --only-binary :all: --no-deps --require-hashes -r requirements/run.txt
    /opt/phoneprov/bin/pip install --quiet --no-deps --require-hashes -r requirements/dev.txt
    /opt/phoneprov/bin/pip install --quiet --no-deps --no-build-isolation --editable .
    echo "$locked" > /opt/phoneprov/locked
  fi
  /opt/phoneprov/bin/phoneprov demo
  PYTHONWARNINGS=error::DeprecationWarning /opt/phoneprov/bin/python -m pytest -q -p no:cacheprovider -n 2 \
    tests/unit "tests/contract/cli/test_commands.py::test_serve_answers_and_stops_at_a_signal"
'
