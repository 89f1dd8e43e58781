"""Step 2: the target interpreter says what it is and what it holds."""

from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages import versions_environment as environment
from rocm_wizard.stages import versions_packages as packages
from rocm_wizard.stages.probe import Probe
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.versions_consistency import report_consistency
from rocm_wizard.stages.versions_import import import_failure
from rocm_wizard.stages.versions_rules import VersionRules, load_rules

_SHADOWED = ["torch", "torchaudio", "torchvision", "numpy", "transformers"]


class VersionsStage:
    """Compares interpreter, packages, torch build and what surrounds them with the profile's."""

    id = "versions"

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rules = load_rules()
        self._prefix = ""
        self._seen: set[str] = set()

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        self._prefix, self._seen = "", set()
        request = _request(self._session, self._rules)
        probe = Probe(context, self._session, self.id, self._session.options.versions_probe, request)
        with context.check("interpreter"):
            for message in probe.messages():
                self._seen.add(message["type"])
                self._report(context, message)
        if probe.complete and not {"interpreter", "packages"} <= self._seen:
            context.finding("versions.silent", Outcome.COULD_NOT_CHECK)
        elif "interpreter" in self._seen:
            report_consistency(context, self._session)

    def _report(self, context: StageContext, message: dict[str, Any]) -> None:
        session, profile, kind = self._session, self._session.chosen, message["type"]
        if kind == "interpreter":
            self._prefix = str(message.get("prefix"))
            packages.report_interpreter(context, profile, message)
        elif kind == "packages":
            versions = message.get("versions") or {}
            packages.report_packages(context, profile, versions)
            if session.target.checkout is not None:
                packages.report_pins(context, profile, self._rules.pins, versions)
        elif kind == "paths":
            environment.report_paths(context, message)
        elif kind == "torch":
            packages.report_torch(context, profile, message, self._prefix)
        elif kind == "import_error":
            with context.check("torch_build"):
                ending, facts = import_failure(message)
                id = f"versions.{ending}"
                context.finding(id, Outcome.FAILED, ["detail"], package="torch", profile=profile.id, **facts)
        elif kind in ("numpy", "numpy_error"):
            environment.report_numpy(context, profile, message)
        elif kind in ("module", "module_error"):
            environment.report_module(context, profile, message)
        elif kind == "hip_runtime":
            environment.report_hip_runtime(context, message, self._prefix)


def _request(session: Session, rules: VersionRules) -> dict[str, Any]:
    """What the probe is asked for."""
    profile = session.chosen
    modules = [
        module.name
        for module in rules.modules
        if module.name in profile.packages or (module.device_kinds and profile.device_kind in module.device_kinds)
    ]
    pinned = [name for pin in rules.pins for name in (pin.package, pin.needs)]
    return {
        "packages": sorted({*profile.packages, *profile.absent, *pinned}),
        "shadow": _SHADOWED,
        "modules": modules,
    }
