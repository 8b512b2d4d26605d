"""Kernels of notebooks that are forked from a process with all imports done, which a fresh one takes seconds for."""

import multiprocessing
import os

import matplotlib as mpl
import pandas as pd
from ipykernel.kernelapp import launch_new_instance
from jupyter_client import AsyncKernelManager

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["forked_kernels", "ipykernel.zmqshell", "arviz", "dask.array", "matplotlib.pyplot", "pymc", "sklearn.ensemble"]
)


def run(file, folder, env):
    """Be the kernel whose connections a file says."""
    os.environ.clear()
    os.environ.update(env | {"JPY_PARENT_PID": str(os.getppid())})  # with which it ends
    os.chdir(folder)
    mpl.rcParams["backend"] = "module://matplotlib_inline.backend_inline"  # what these are
    pd.set_option("display.max_columns", 20)  # where a kernel imports both
    launch_new_instance(["-f", file])


class Kernel(PROCESSES.Process):
    """The kernel's process, with the names that `subprocess.Popen` gives."""

    stdin = stdout = stderr = None

    def poll(self):
        """Return the exit code; None while it runs."""
        return self.exitcode

    def wait(self):
        """Return it when it has ended."""
        self.join()
        return self.exitcode

    def send_signal(self, number):
        """Send a signal."""
        os.kill(self.pid, number)


class Kernels(AsyncKernelManager):
    """Starts such a kernel."""

    async def _async_launch_kernel(self, _, *, cwd, env, **__):
        kernel = Kernel(target=run, args=(self.connection_file, cwd, env))
        kernel.start()
        self.provisioner.process = kernel
