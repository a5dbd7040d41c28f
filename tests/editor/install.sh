#!/usr/bin/env bash
# Put code-server (VS Code, served to a browser) and playwright-core into the cache folder given as $1.
#
# Two of code-server's install scripts download from hosts other than the npm registry, so all install scripts are
# ignored and only the native modules VS Code cannot start without are compiled here. Run once per machine: about
# three minutes; later runs find the stamp and return at once.
set -euo pipefail

CODE_SERVER=4.100.3 # VS Code 1.100.3, the last that runs on Node 20
PLAYWRIGHT=1.52.0
cache=${1:?usage: install.sh CACHE_FOLDER}
stamp="$cache/.installed-$CODE_SERVER-$PLAYWRIGHT"
[ -e "$stamp" ] && exit 0

# node-gyp downloads Node's headers unless told where they are; Debian and the official archives ship them.
prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
if [ -z "${npm_config_nodedir:-}" ] && [ -e "$prefix/include/node/node.h" ]; then
    export npm_config_nodedir="$prefix"
fi
export npm_config_fund=false npm_config_audit=false npm_config_update_notifier=false npm_config_loglevel=error

rm -rf "$cache"
mkdir -p "$cache"
cd "$cache"
echo '{"private": true}' >package.json
echo "editor-test: installing code-server $CODE_SERVER into $cache (once; about three minutes)"
npm install --ignore-scripts --no-save "code-server@$CODE_SERVER" "playwright-core@$PLAYWRIGHT"
vscode="$cache/node_modules/code-server/lib/vscode"
(cd "$vscode" && npm install --omit=dev --ignore-scripts)
(cd "$vscode/extensions" && npm install --omit=dev --ignore-scripts)
# node-pty's own post-install step fails after its module was built: what counts is the built file.
(cd "$vscode" && npm rebuild node-pty @vscode/spdlog native-watchdog kerberos --foreground-scripts >"$cache/build.log" 2>&1) || true
npm_config_build_from_source=true npm rebuild argon2 >>"$cache/build.log" 2>&1
for built in "$vscode/node_modules/node-pty/build/Release/pty.node" \
    "$vscode/node_modules/@vscode/spdlog/build/Release/spdlog.node" \
    "$cache/node_modules/argon2/lib/binding/napi-v3/argon2.node"; do
    if [ ! -e "$built" ]; then
        echo "editor-test: $built was not built; see $cache/build.log" >&2
        exit 1
    fi
done
touch "$stamp"
