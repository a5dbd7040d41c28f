// Starts Python with the packages below a folder, and writes its memory to a file: node snapshot.mjs FOLDER FILE
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";

const [folder, file] = process.argv.slice(2);
// Without the columns of tracebacks code needs less memory.
const pyodide = await loadPyodide({ env: { HOME: "/", PYTHONNODEBUGRANGES: "1" }, _makeSnapshot: true });
pyodide.FS.mkdir("/tapelint");
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: folder }, "/tapelint");
pyodide.runPython(`
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "/tapelint")
from pathlib import Path
from tools.playground.snapshot import prepare
prepared = prepare(Path("/tapelint"), Path("/playground"))
`);
writeFileSync(file, gzipSync(pyodide.makeMemorySnapshot(), { level: 9 }));
