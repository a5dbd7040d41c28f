// Compiles the Python files below a folder with Pyodide's Python, into __pycache__: node compile.mjs FOLDER
import { loadPyodide } from "pyodide";

const [folder] = process.argv.slice(2);
// Without the columns of tracebacks the files are a quarter smaller.
const pyodide = await loadPyodide({ env: { HOME: "/", PYTHONNODEBUGRANGES: "1" } });
pyodide.FS.mkdir("/staged");
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: folder }, "/staged");
// Programs that the analyser reads as text stay text.
const compiled = pyodide.runPython(`
import compileall, py_compile, re
compileall.compile_dir(
    "/staged",
    quiet=1,
    ddir="/tapelint",
    rx=re.compile("/stubs/programs/"),
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
)
`);
if (!compiled) throw new Error("some files could not be compiled");
