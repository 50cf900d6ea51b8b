"""The registry of commands: one line each, with the module that is imported when the command is called.

`main` walks it to find what the user called; `help`, `completions` and the generated reference list it.
A hidden line is another name for a command, kept because existing scripts use it. `TASKS` sorts the first
words of the visible ones by task, as the help of the program lists them.
"""

from __future__ import annotations

from collections.abc import Collection

from crossply.cli.framework.command import Command


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
        "cluster.top",
        "Show CPU and memory usage of the control plane's pods.",
        "beta",
    ),
    Entry(
        "composition convert composition-environment",
        "composition.convert_environment",
        "Convert a Composition's environment to function-environment-configs.",
        "beta",
    ),
    Entry(
        "composition convert pipeline-composition",
        "composition.convert_pipeline",
        "Convert a Composition with resource templates to a pipeline of functions.",
        "beta",
    ),
    Entry("composition generate", "composition.generate", "Generate a Composition for an XRD.", "beta"),
    Entry("composition render", "render.command", "Render a composite resource (XR)."),
    Entry("config set", "config.set", "Set a value in the configuration file."),
    Entry("config view", "config.view", "Show the configuration in use."),
    Entry("dependency add", "dependency.add", "Add a dependency to a project.", "beta"),
    Entry(
        "dependency update-cache",
        "dependency.update_cache",
        "Fetch the dependencies of a project again.",
        "beta",
    ),
    Entry(
        "dependency clean-cache",
        "dependency.clean_cache",
        "Remove generated models and cached packages of a project.",
        "beta",
    ),
    Entry("function generate", "function.generate", "Generate a function in a project.", "beta"),
    Entry(
        "function runner",
        "function.container_runner_server",
        "Serve container functions: run their images on request.",
        "beta",
    ),
    Entry("function build", "xpkg.build", "Build a package from a directory of files."),
    Entry(
        "function call",
        "function.call",
        "Send a request to a composition function and print its response.",
        "beta",
    ),
    Entry("function push", "xpkg.push", "Push a package to a registry."),
    Entry("function run", "function.run", "Serve the composition function in a Python file.", "beta"),
    Entry("function serve", "function.serve", "Serve a built-in composition function over gRPC.", "beta"),
    Entry(
        "function test",
        "function.test",
        "Start a composition function from its package, call it, and stop it.",
        "beta",
    ),
    Entry(
        "functions",
        "function.catalogue",
        "List the built-in functions and the published versions they were compared with.",
    ),
    Entry("render", "render.command", "Render a composite resource (XR)."),
    Entry("operation render", "operation.render", "Render an Operation.", "alpha"),
    Entry(
        "project init", "project.init", "Create a project of packages that are developed together.", "beta"
    ),
    Entry("project build", "project.build", "Build all packages of a project into one file.", "beta"),
    Entry("project push", "project.push", "Push all packages of a project to their registry.", "beta"),
    Entry("provider init", "provider.init", "Create a provider in Python, with a kind and its test.", "beta"),
    Entry(
        "provider run",
        "provider.run",
        "Run a provider in Python, and restart it when a file is saved.",
        "beta",
    ),
    Entry("provider build", "provider.build", "Build the package of a provider in Python.", "beta"),
    Entry("provider push", "xpkg.push", "Push a package to a registry."),
    Entry(
        "resource trace",
        "trace.command",
        "Show a resource, its descendants, and why it is not ready.",
        "beta",
    ),
    Entry("resource validate", "validate.command", "Validate resources against XRDs and CRDs.", "beta"),
    Entry("apiserver", "apiserver.serve", "Run a Kubernetes API server on this machine.", "beta"),
    Entry(
        "apiserver accept-loss",
        "apiserver.accept_loss",
        "Accept the loss of acknowledged writes and make the data usable again.",
        "beta",
    ),
    Entry(
        "apiserver backup", "apiserver.backup", "Back up an API server's objects, also while it runs.", "beta"
    ),
    Entry(
        "apiserver encrypt",
        "apiserver.encrypt",
        "Encrypt an API server's stored objects with the first key.",
        "beta",
    ),
    Entry("apiserver restore", "apiserver.restore", "Restore an API server from a backup.", "beta"),
    Entry(
        "check", "check.command", "Check definitions, Compositions and examples without a cluster.", "beta"
    ),
    Entry("convert", "convert", "Convert Compositions, XRDs, claims and XRs to their current form.", "beta"),
    Entry("controller", "controller.command", "Run the controllers for a Kubernetes cluster.", "beta"),
    Entry(
        "explain",
        "explain.command",
        "Explain why a resource is not ready, where a field comes from, or an error.",
        "beta",
    ),
    Entry(
        "doctor",
        "doctor.command",
        "Check this machine, the cluster and the control plane, and suggest fixes.",
        "beta",
    ),
    Entry("logs", "logs", "Show the output of a Provider or Function on this machine.", "beta"),
    Entry("down", "up.down", "Stop the control plane on this machine.", "beta"),
    Entry(
        "new composition",
        "new.composition",
        "Create a first Composition for an XRD, with a test.",
        "beta",
    ),
    Entry("new function", "new.function", "Create a composition function in Python.", "beta"),
    Entry("new models", "new.models", "Generate typed models of the kinds of XRDs and CRDs.", "beta"),
    Entry(
        "new project",
        "new.project",
        "Create a project with an API, a Composition, an example and a test.",
        "beta",
    ),
    Entry("new test", "new.test", "Create a test that expects what a Composition renders now.", "beta"),
    Entry("new xrd", "new.xrd", "Create an XRD from an example of a composite resource.", "beta"),
    Entry("plan", "plan.command", "Show what applying files would change in the control plane.", "beta"),
    Entry("runs", "runs.command", "List recorded pipeline runs of an XR: when, why, what changed.", "beta"),
    Entry("runs show", "runs.show", "Show a recorded run step by step, and what it changed.", "beta"),
    Entry("runs diff", "runs.diff", "Compare two recorded runs.", "beta"),
    Entry("runs export", "runs.export", "Export a recorded run for render and test.", "beta"),
    Entry("runs replay", "runs.replay", "Replay a recorded run, and show what differs.", "beta"),
    Entry("test", "test.command", "Run tests of Compositions.", "beta"),
    Entry("top", "top.command", "Show XRs by state, reconciles and functions, live.", "beta"),
    Entry("trace", "trace.command", "Show a resource, its descendants, and why it is not ready.", "beta"),
    Entry("ui", "ui.command", "Show a control plane in the browser.", "beta"),
    Entry("up", "up.command", "Run a control plane on this machine.", "beta"),
    Entry("validate", "validate.command", "Validate resources against XRDs and CRDs.", "beta"),
    Entry("version", "version", "Print the versions of the client and the server."),
    Entry("xpkg batch", "xpkg.batch", "Build and push the smaller packages of a family of providers."),
    Entry("xpkg build", "xpkg.build", "Build a package from a directory of files."),
    Entry("xpkg get-crds", "xpkg.get_crds", "Write the CRDs of packages to files."),
    Entry("xpkg init", "xpkg.init", "Initialize a new package from a template."),
    Entry("xpkg install", "xpkg.install", "Install a package in a control plane."),
    Entry("xpkg push", "xpkg.push", "Push a package to a registry."),
    Entry("xpkg update", "xpkg.update", "Update a package in a control plane."),
    Entry("xpkg extract", "xpkg.extract", "Extract the content of a package."),
    Entry("xpkg mirror", "xpkg.mirror", "Copy a package and its dependencies."),
    Entry("xpkg why", "xpkg.why", "Show which packages depend on a package, and on which versions."),
    Entry("xr generate", "xr.generate", "Generate a composite resource (XR) from a claim.", "alpha"),
    Entry("xr patch", "xr.patch", "Apply the defaults of an XRD to an XR.", "alpha"),
    Entry("xrd convert", "xrd.convert", "Convert an XRD to its CRDs.", "beta"),
    Entry("xrd generate", "xrd.generate", "Generate an XRD from an example, or from a SimpleSchema.", "beta"),
    Entry("completions", "completion.script", "Print a completion script for your shell."),
    Entry("beta render", "render.command", "Render a composite resource (XR).", "ga", HIDDEN),
    Entry("alpha render op", "operation.render", "Render an Operation.", "alpha", HIDDEN),
    Entry(
        "beta trace",
        "trace.command",
        "Show a resource, its descendants, and why it is not ready.",
        "beta",
        HIDDEN,
    ),
    Entry(
        "beta top",
        "cluster.top",
        "Show CPU and memory usage of the control plane's pods.",
        "beta",
        HIDDEN,
    ),
    Entry(
        "beta convert composition-environment",
        "composition.convert_environment",
        "Convert a Composition's environment to function-environment-configs.",
        "beta",
        HIDDEN,
    ),
    Entry(
        "beta convert pipeline-composition",
        "composition.convert_pipeline",
        "Convert a Composition with resource templates to a pipeline of functions.",
        "beta",
        HIDDEN,
    ),
    Entry("beta validate", "validate.command", "Validate resources against XRDs and CRDs.", "beta", HIDDEN),
    Entry("beta xpkg init", "xpkg.init", "Initialize a new package from a template.", "ga", HIDDEN),
    Entry(
        "completion",
        "completion.script",
        "Print a completion script for your shell.",
        "ga",
        HIDDEN,
    ),
    Entry(
        "internal complete",
        "completion.complete",
        "Print the completions of a command line.",
        "ga",
        HIDDEN,
    ),
    Entry("init function", "new.function", "Create a composition function in Python.", "beta", HIDDEN),
    Entry(
        "internal render",
        "internal.render",
        "Render a protobuf RenderRequest from standard input.",
        "ga",
        HIDDEN,
    ),
)

COMPATIBLE = "Crossplane's spellings"
TASKS = {
    "Write and test": ("render", "check", "validate", "test", "new", "convert"),
    "Run a control plane": ("up", "down", "logs", "top", "controller", "apiserver"),
    "See what happens, and why": ("trace", "explain", "runs", "ui", "plan", "doctor"),
    "Package and install": ("xpkg", "project", "dependency"),
    "Extend": ("function", "functions", "provider"),
    "Set up": ("config", "completions", "version"),
    COMPATIBLE: ("composition", "resource", "operation", "xr", "xrd", "cluster"),
}
"""The tasks in the order of the help: a title, and the first words of its commands."""

GROUPS = {
    "alpha render": "Render resources.",
    "beta": "Run commands by their older names.",
    "beta convert": "Convert Compositions from older forms.",
    "beta xpkg": "Build, publish and install packages.",
    "cluster": "Inspect the cluster of a control plane.",
    "composition": "Render, generate and convert Compositions.",
    "composition convert": "Convert Compositions from older forms.",
    "config": "Show and change the configuration.",
    "dependency": "Manage the dependencies of a project.",
    "function": "Build, run, call and test composition functions.",
    "init": "Run commands by their older names.",
    "internal": "Run commands that other programs call.",
    "new": "Create a project, function or test from a template.",
    "operation": "Render Operations.",
    "project": "Create, build and push projects of packages.",
    "provider": "Create, run, build and push providers in Python.",
    "resource": "Trace and validate resources.",
    "xpkg": "Build, publish and install packages.",
    "xr": "Generate and patch composite resources (XRs).",
    "xrd": "Generate and convert CompositeResourceDefinitions (XRDs).",
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
    by_name: dict[str, Child] = {}
    prefix = f"{group} " if group else ""
    for entry in COMMANDS:
        if not entry.path.startswith(prefix):
            continue
        hidden = entry.hidden or entry.maturity in concealed
        name, _, deeper = entry.path[len(prefix) :].partition(" ")
        if name in by_name:
            by_name[name].hidden &= hidden  # a group is hidden only when all in it is
        elif deeper:
            by_name[name] = Child(name, GROUPS.get(prefix + name, ""), None, hidden)
        else:
            by_name[name] = Child(name, entry.summary, entry, hidden)
    return list(by_name.values())


def load(entry: Entry) -> Command:
    """Import a command's module and return its specification."""
    # importlib is left out of the start-up path: __import__ with a fromlist returns the module itself.
    module = __import__(f"crossply.cli.{entry.module}", fromlist=("COMMAND",))
    command: Command = module.COMMAND
    return command
