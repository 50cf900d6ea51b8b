"""The tree of commands: one line each, naming the module that is imported when the command is called.

`main` walks it to find what the user called; `help`, `completions` and the generated reference list it.
A hidden line is another name for a command, kept because existing scripts use it.
"""

from __future__ import annotations

from collections.abc import Collection

from crossply.cli.spec import Command


class Entry:
    """One command: the words that call it, its module, and what it is for in one line."""

    __slots__ = ("hidden", "maturity", "module", "path", "summary")

    def __init__(
        self, path: str, module: str, summary: str, maturity: str = "ga", hidden: bool = False
    ) -> None:
        self.path = path
        self.module = module
        self.summary = summary
        self.maturity = maturity
        self.hidden = hidden


HIDDEN = True

COMMANDS = (
    Entry(
        "cluster top",
        "cluster_top",
        "Show what the pods of a control plane use of processors and memory.",
        "beta",
    ),
    Entry(
        "composition convert composition-environment",
        "convert_environment",
        "Convert a Composition's environment to function-environment-configs.",
        "beta",
    ),
    Entry(
        "composition convert pipeline-composition",
        "convert_pipeline",
        "Convert a Composition with resource templates to a pipeline of functions.",
        "beta",
    ),
    Entry("composition generate", "composition_generate", "Generate a Composition for an XRD.", "beta"),
    Entry("composition render", "render", "Render a composite resource (XR)."),
    Entry("config set", "config_set", "Set a value in the configuration file."),
    Entry("config view", "config_view", "Show the configuration in use."),
    Entry("dependency add", "dependency_add", "Add a dependency to a project.", "beta"),
    Entry(
        "dependency update-cache",
        "dependency_update_cache",
        "Fetch the dependencies of a project anew.",
        "beta",
    ),
    Entry(
        "dependency clean-cache",
        "dependency_clean_cache",
        "Remove the models of a project's dependencies, and cached packages.",
        "beta",
    ),
    Entry("function generate", "function_generate", "Generate a function in a project.", "beta"),
    Entry("function runner", "function_runner", "Run the images of container functions for others.", "beta"),
    Entry("function build", "xpkg_build", "Build a package from a directory of files."),
    Entry(
        "function call",
        "function_call",
        "Send a request to a composition function and print its response.",
        "beta",
    ),
    Entry("function push", "xpkg_push", "Push a package to a registry."),
    Entry("function run", "function_run", "Serve the composition function in a Python file.", "beta"),
    Entry("function serve", "function_serve", "Serve a built-in composition function over gRPC.", "beta"),
    Entry(
        "function test",
        "function_test",
        "Start a composition function from its package, call it, and stop it.",
        "beta",
    ),
    Entry("operation render", "operation_render", "Render an Operation.", "alpha"),
    Entry("project init", "project_init", "Begin a project of packages that are developed together.", "beta"),
    Entry("project build", "project_build", "Build all packages of a project into one file.", "beta"),
    Entry("project push", "project_push", "Push all packages of a project to their registry.", "beta"),
    Entry("resource trace", "trace", "Show a resource, what is below it, and why it is not ready.", "beta"),
    Entry("resource validate", "validate", "Validate resources against XRDs and CRDs.", "beta"),
    Entry("apiserver", "apiserver", "Run a Kubernetes API server on this machine.", "beta"),
    Entry(
        "apiserver accept-loss",
        "apiserver_accept_loss",
        "Accept that acknowledged writes are lost, and make the data usable again.",
        "beta",
    ),
    Entry("apiserver backup", "apiserver_backup", "Copy an API server's database while it runs.", "beta"),
    Entry(
        "apiserver encrypt",
        "apiserver_encrypt",
        "Encrypt an API server's stored objects with the first key.",
        "beta",
    ),
    Entry("apiserver restore", "apiserver_restore", "Make an API server's data of a backup.", "beta"),
    Entry(
        "convert", "convert", "Convert what is in an older form: Compositions, XRDs, claims and XRs.", "beta"
    ),
    Entry("controller", "controller", "Run the controllers for a Kubernetes cluster.", "beta"),
    Entry("down", "down", "Stop the control plane on this machine.", "beta"),
    Entry(
        "new composition",
        "new_composition",
        "Write a first Composition for a definition (XRD), with a test.",
        "beta",
    ),
    Entry("new function", "new_function", "Begin a composition function in Python.", "beta"),
    Entry(
        "new models", "new_models", "Write Python dataclasses of the kinds that XRDs and CRDs define.", "beta"
    ),
    Entry(
        "new project", "new_project", "Begin a project: an API, a Composition, an example and a test.", "beta"
    ),
    Entry("new test", "new_test", "Write a test for a Composition, of what it makes today.", "beta"),
    Entry("new xrd", "new_xrd", "Write a definition (XRD) for an example of a composite resource.", "beta"),
    Entry("plan", "plan", "Show what applying files would change in the control plane.", "beta"),
    Entry("test", "test", "Run tests of Compositions.", "beta"),
    Entry("up", "up", "Run a control plane on this machine.", "beta"),
    Entry("version", "version", "Print the versions of the client and the server."),
    Entry("xpkg batch", "xpkg_batch", "Build and push the smaller packages of a family of providers."),
    Entry("xpkg build", "xpkg_build", "Build a package from a directory of files."),
    Entry("xpkg get-crds", "xpkg_get_crds", "Write the CRDs of packages to files."),
    Entry("xpkg init", "xpkg_init", "Initialize a new package from a template."),
    Entry("xpkg install", "xpkg_install", "Install a package in a control plane."),
    Entry("xpkg push", "xpkg_push", "Push a package to a registry."),
    Entry("xpkg update", "xpkg_update", "Update a package in a control plane."),
    Entry("xpkg extract", "xpkg_extract", "Extract the content of a package."),
    Entry("xpkg mirror", "xpkg_mirror", "Copy a package and all that it depends on."),
    Entry("xpkg why", "xpkg_why", "Show who depends on a package, and in which versions."),
    Entry("xr generate", "xr_generate", "Generate a composite resource (XR) from a claim.", "alpha"),
    Entry("xr patch", "xr_patch", "Fill in what an XR's definition gives by default.", "alpha"),
    Entry("xrd convert", "xrd_convert", "Convert an XRD to the CRDs it stands for.", "beta"),
    Entry("xrd generate", "xrd_generate", "Generate an XRD from an example, or from a SimpleSchema.", "beta"),
    Entry("completions", "completions", "Print a script that completes commands in your shell."),
    Entry("render", "render", "Render a composite resource (XR).", "ga", HIDDEN),
    Entry("beta render", "render", "Render a composite resource (XR).", "ga", HIDDEN),
    Entry("alpha render op", "operation_render", "Render an Operation.", "alpha", HIDDEN),
    Entry("trace", "trace", "Show a resource, what is below it, and why it is not ready.", "beta", HIDDEN),
    Entry(
        "beta trace", "trace", "Show a resource, what is below it, and why it is not ready.", "beta", HIDDEN
    ),
    Entry(
        "beta top",
        "cluster_top",
        "Show what the pods of a control plane use of processors and memory.",
        "beta",
        HIDDEN,
    ),
    Entry(
        "beta convert composition-environment",
        "convert_environment",
        "Convert a Composition's environment to function-environment-configs.",
        "beta",
        HIDDEN,
    ),
    Entry(
        "beta convert pipeline-composition",
        "convert_pipeline",
        "Convert a Composition with resource templates to a pipeline of functions.",
        "beta",
        HIDDEN,
    ),
    Entry("validate", "validate", "Validate resources against XRDs and CRDs.", "beta", HIDDEN),
    Entry("beta validate", "validate", "Validate resources against XRDs and CRDs.", "beta", HIDDEN),
    Entry("beta xpkg init", "xpkg_init", "Initialize a new package from a template.", "ga", HIDDEN),
    Entry("completion", "completions", "Print a script that completes commands in your shell.", "ga", HIDDEN),
    Entry(
        "internal complete",
        "completions_answer",
        "Print what the last of some words may become.",
        "ga",
        HIDDEN,
    ),
    Entry("init function", "new_function", "Begin a composition function in Python.", "beta", HIDDEN),
    Entry("internal render", "internal_render", "Speak the render engine's wire format.", "ga", HIDDEN),
)

GROUPS = {
    "alpha render": "Render resources.",
    "beta": "Commands by their older names.",
    "beta convert": "Convert Compositions of older forms.",
    "beta xpkg": "Build and use packages.",
    "cluster": "Look after the cluster of a control plane.",
    "composition": "Work with Compositions.",
    "composition convert": "Convert Compositions of older forms.",
    "config": "See and change the configuration.",
    "dependency": "Work with what a project depends on.",
    "function": "Work with composition functions.",
    "init": "Commands by their older names.",
    "internal": "Commands that other programs call.",
    "new": "Begin something that works.",
    "operation": "Work with Operations.",
    "project": "Work with projects: packages that are developed together.",
    "resource": "Work with resources.",
    "xpkg": "Build and use packages.",
    "xr": "Work with composite resources (XRs).",
    "xrd": "Work with CompositeResourceDefinitions (XRDs).",
}


class Child:
    """A word that may follow a group: a command (it has an entry) or a further group."""

    __slots__ = ("entry", "hidden", "name", "summary")

    def __init__(self, name: str, summary: str, entry: Entry | None, hidden: bool) -> None:
        self.name = name
        self.summary = summary
        self.entry = entry
        self.hidden = hidden


def children(group: str, concealed: Collection[str] = ()) -> list[Child]:
    """List what may follow a group ("" is the top), in the order of the table, each name once.

    Commands of a `concealed` maturity count as hidden: they are not shown, but they run.
    """
    found: dict[str, Child] = {}
    prefix = f"{group} " if group else ""
    for entry in COMMANDS:
        if not entry.path.startswith(prefix):
            continue
        hidden = entry.hidden or entry.maturity in concealed
        name, _, deeper = entry.path[len(prefix) :].partition(" ")
        if name in found:
            found[name].hidden &= hidden  # a group is hidden only when all in it is
        elif deeper:
            found[name] = Child(name, GROUPS.get(prefix + name, ""), None, hidden)
        else:
            found[name] = Child(name, entry.summary, entry, hidden)
    return list(found.values())


def load(entry: Entry) -> Command:
    """Import a command's module and return its specification."""
    # importlib is left out of the start-up path: __import__ with a fromlist returns the module itself.
    module = __import__(f"crossply.cli.{entry.module}", fromlist=("COMMAND",))
    command: Command = module.COMMAND
    return command
