"""Look at a whole `.env` without a plan: its lines, its values, its other readers, and who beats it."""

from pathlib import Path

from rocm_wizard.envfile import take_snapshot
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.env_findings import layer_findings, line_findings, reader_findings, report, value_findings
from rocm_wizard.stages.env_template import catalogue


def check_file(context: StageContext, path: Path, root: Path) -> None:
    """Reports all there is to say about the file at `path`; relative paths in it count from `root`.

    Raises:
        EnvFileError: it cannot be read.
    """
    with context.check("read"):
        snapshot = take_snapshot(path)
        document = snapshot.document
        if not document.exists:
            context.finding("env.no_file", Outcome.COULD_NOT_CHECK, ["file"], file=str(path))
            return
        facts = {"file": str(path), "lines": len(document.statements), "target": str(snapshot.target)}
        id = "env.through_link" if snapshot.through_link else "env.file"
        context.finding(id, Outcome.PASSED, ["file", "target"], **facts)
        lines = line_findings(document)
        report(context, lines)
    with context.check("env_values"):
        known = catalogue().by_name
        ours = [key for key in document.assignments if key in known]
        values = [*value_findings(document, root), *reader_findings(document, known), *layer_findings(document, ours)]
        report(context, values)
        if all(finding.outcome is Outcome.PASSED for finding in (*lines, *values)):
            context.finding("env.clean", Outcome.PASSED, keys=len(ours))
