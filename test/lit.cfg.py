# Configuration of the lit suite.
#
# Parameters:
#   roundtrip=1   run only .mlir tests, hfta-opt with --verify-roundtrip
#   slow=1        run only the tests that say `REQUIRES: slow`
#   long=1        run only the tests that say `REQUIRES: long`

import ctypes
import os
import shutil
import subprocess

import lit.formats

config.name = "Hfta"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".hfta"]
# These folders have files that tests read, but no tests.
config.excludes = ["Inputs", "models", "reference"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.hfta_obj_root

roundtrip = lit_config.params.get("roundtrip") == "1"
if roundtrip:
    config.suffixes = [".mlir"]
    config.test_exec_root = os.path.join(config.hfta_obj_root, "roundtrip")
    # Every hfta-opt gets this flag below, so the flags of tests are removed.
    config.substitutions.append((r" --?verify-roundtrip\b", ""))

for kind in ("slow", "long"):
    if lit_config.params.get(kind) == "1":
        config.available_features.add(kind)
        config.limit_to_features = {kind}

if config.sanitize:
    config.available_features.add("sanitize")

try:
    with open("/proc/cpuinfo") as cpuinfo:
        if " avx2 " in cpuinfo.read():
            config.available_features.add("avx2")
except OSError:
    pass

# Feature `torch`: there is a Python with PyTorch, onnx and onnxscript. If HFTA_TORCH_PYTHON
# names one, it must have them; else the build's Python is used if it has them.
torch_python = os.environ.get("HFTA_TORCH_PYTHON", config.python)
find_torch = ("import importlib.util as u, sys; "
              "sys.exit(not all(map(u.find_spec, ('torch', 'onnx', 'onnxscript'))))")
if subprocess.run([torch_python, "-c", find_torch], capture_output=True).returncode == 0:
    config.available_features.add("torch")
    config.substitutions.append(("%torch_python", torch_python))
elif "HFTA_TORCH_PYTHON" in os.environ:
    lit_config.fatal(f"HFTA_TORCH_PYTHON: {torch_python} lacks torch, onnx or onnxscript")

# Feature `tools`: there is a Python with TensorBoard, Optuna and MLflow, as for `torch`.
tools_python = os.environ.get("HFTA_TOOLS_PYTHON", config.python)
find_tools = find_torch.replace("'torch', 'onnx', 'onnxscript'",
                                "'tensorboard', 'optuna', 'mlflow'")
if subprocess.run([tools_python, "-c", find_tools], capture_output=True).returncode == 0:
    config.available_features.add("tools")
    config.substitutions.append(("%tools_python", tools_python))
elif "HFTA_TOOLS_PYTHON" in os.environ:
    lit_config.fatal(f"HFTA_TOOLS_PYTHON: {tools_python} lacks tensorboard, optuna or mlflow")

# Feature `sklearn`: the build's Python has scikit-learn.
if subprocess.run([config.python, "-c", "import sklearn"], capture_output=True).returncode == 0:
    config.available_features.add("sklearn")

# Feature `mpi`: programs can run on several ranks.
try:
    ctypes.CDLL("libmpi.so.40")
    if shutil.which("mpirun"):
        config.available_features.add("mpi")
except OSError:
    pass

# Feature `tmux`: terminals can be looked at.
if shutil.which("tmux"):
    config.available_features.add("tmux")

# Feature `chromium`: pages can be looked at.
if shutil.which("chromium"):
    config.available_features.add("chromium")

# Feature `cuda-header`: there is NVIDIA's cuda.h, to compare our declarations with.
for folder in (os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
    if folder and os.path.exists(os.path.join(folder, "include", "cuda.h")):
        config.available_features.add("cuda-header")
        config.substitutions.append(("%cuda_include", os.path.join(folder, "include")))
        break

# Feature `ptxas`: PTX can be assembled.
ptxas = os.path.join(os.environ.get("CUDA_PATH", ""), "bin", "ptxas")
if shutil.which(ptxas) or shutil.which("ptxas"):
    config.available_features.add("ptxas")
    if "CUDA_PATH" in os.environ:
        config.environment["CUDA_PATH"] = os.environ["CUDA_PATH"]

# Feature `private-mounts`: a process may mount file systems that only it sees.
private_mount = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs",
                 "tmpfs", "/mnt"]
if (shutil.which("unshare")
        and subprocess.run(private_mount, capture_output=True).returncode == 0):
    config.available_features.add("private-mounts")


def add_tool(name, folder, options=""):
    """Replaces the word `name` in RUN lines by the tool's path and options."""
    path = os.path.join(folder, name)
    config.substitutions.append(
        (r"(?<![-./\w%])" + name + r"(?![-./\w])", path + options)
    )


add_tool("hfta-opt", config.hfta_tools_dir, " --verify-roundtrip" if roundtrip else "")
add_tool("hftac", config.hfta_tools_dir)
add_tool("hftac-scratch", config.hfta_tools_dir)
add_tool("hftac-scratch-command", config.hfta_tools_dir)
for tool in ("FileCheck", "not", "count", "split-file", "llc", "llvm-nm", "llvm-readelf",
             "llvm-size", "mlir-translate"):
    add_tool(tool, config.llvm_tools_dir)

# `%exits CODE COMMAND...` fails unless the command exits with this code.
config.substitutions.append(
    ("%exits", config.python + " " + os.path.join(config.test_source_root, "Inputs", "exits.py"))
)
config.substitutions.append(("%hfta-opt", os.path.join(config.hfta_tools_dir, "hfta-opt")))
config.substitutions.append(("%hftac", os.path.join(config.hfta_tools_dir, "hftac")))
config.substitutions.append(
    ("%emulation", os.path.join(os.path.dirname(config.hfta_tools_dir), "lib", "emulation")))
config.substitutions.append(("%source", config.hfta_source_dir))
config.substitutions.append(
    ("%runtime_archive", os.path.join(config.hfta_tools_dir, "..", "lib", "libhfta_runtime.a")))
config.substitutions.append(
    ("%records", os.path.join(config.hfta_tools_dir, "..", "unittests", "Settings", "records")))
config.substitutions.append(("%models", os.path.join(config.test_source_root, "models")))
config.substitutions.append(("%python", config.python))
sanitizers = " -fsanitize=address,undefined" if config.sanitize else ""
config.substitutions.append(("%cc", config.host_cc + sanitizers))
config.substitutions.append(("%slowdown", "5" if config.sanitize else "1"))

# Makes hftac verify in all tests that lowering keeps the order of sums.
config.environment["HFTA_VERIFY_SUMS"] = "1"
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
for name in ("HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if config.sanitize:
    # LLVM's libraries aren't instrumented, so only a part of the code would poison and
    # unpoison memory of LLVM's allocators. This would lead to false reports.
    config.environment.setdefault(
        "ASAN_OPTIONS", "detect_leaks=0:allow_user_poisoning=0")
