#!/usr/bin/env bash
# The packaged extension in a real VS Code, from zero: install VS Code (once), build the VSIX, start the server out of it
# under each Python, drive the editor; then neovim, a client that shares nothing with it. With --pictures the screenshots in docs/images are taken anew.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${TAPELINT_EDITOR_CACHE:-$HOME/.cache/tapelint-editor}
vsix=dist/tapelint-universal.vsix
pictures=()
[ "${1:-}" = --pictures ] && pictures=(docs/images)

tests/editor/install.sh "$cache"
[ -d node_modules ] || npm ci --silent --no-audit --no-fund
npm run --silent package -- --unscanned
python3 -m tools.vsix.verify "$vsix"
TAPELINT_SERVER=$(printf '%s\n' python3 -I "$PWD/client/launch.py" server) timeout 120 \
    nvim --headless -u NONE -i NONE -n tests/editor/workspace/train.py -c 'luafile tests/editor/neovim.lua'
node tests/editor/drive.mjs "$cache" "$vsix" "${pictures[@]}"
node tests/editor/folders.mjs "$cache" "$vsix"
