#!/usr/bin/env bash
# Installs Chromium from Debian's packages for the browser tests, where it is missing and this can be done: as root, with
# apt-get. Where it cannot, those tests are skipped and say so.
set -u
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "no Chromium here and no way to install one: the browser tests of the report will be skipped"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; }
install || { apt-get update -qq >/dev/null 2>&1; install; } ||
  echo "apt-get could not install Chromium: the browser tests of the report will be skipped"
exit 0
