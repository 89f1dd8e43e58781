"""Step after the smokes, if wanted: what each setting gives with the person's own voice files, and what to choose.

It says nothing about whether the machine is qualified, so it does not count for the verdict.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.stages.acceptance_measure import (
    block_times,
    measure_graph,
    measure_pace,
    measure_t2s,
    measure_vocoder,
    report_block_drift,
    speak_timed,
    tell,
)
from rocm_wizard.stages.concurrency import compare_concurrency
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import tts_engine, tts_spec
from rocm_wizard.stages.speed_advice import Pace, Vocoder, advise_blocks, advise_bucket, advise_graph, advise_steps
from rocm_wizard.stages.tts_presets import Plan, main_plan

BUCKET = "TTS_BIGVGAN_STREAM_BUCKET_MELS"
SHORT, LONG = 0.4, 0.8
"""The block lengths in seconds that are compared."""
FEW, MANY = 16, 32
"""The CFM steps that are compared."""
_PATIENCE = 20.0
_MINUTES = {"embedded": 1, "gpu": 3, "cpu": 20}


class AcceptanceStage:
    """Latency first, without anything that slows it down; then, in children of their own, where the time goes."""

    id = "acceptance"

    def __init__(self, session: Session) -> None:
        self._session = session
        self._repeats = 2 if session.options.level == "quick" else 3

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        if not self._wanted(context):
            return
        try:
            if self._measure_latency(context):
                self._measure_stages(context)
                self._measure_graph(context)
        except SmokeFailed:
            return

    def _wanted(self, context: StageContext) -> bool:
        if self._session.options.acceptance:
            return True
        kind = "embedded" if tts_engine(self._session) == "embedded" else self._kind
        question = Question("acceptance.start", ("yes", "no"), "no", {"minutes": _MINUTES[kind]}, timeout=_PATIENCE)
        if context.ask(question).option == "yes":
            return True
        with context.check("wanted"):
            context.finding("acceptance.not_wanted", Outcome.SKIPPED)
        return False

    @property
    def _kind(self) -> str:
        return "gpu" if self._session.chosen.device_kind in ("cuda", "hip") else "cpu"

    def _plan(self, block_s: float, **options: object) -> Plan:
        plan = main_plan(self._session, block_s)
        return replace(plan, options={**plan.options, **options})

    def _measure_latency(self, context: StageContext) -> bool:
        """One child as the host would start it; whether its engine has the settings of GPT-SoVITS."""
        session, repeats = self._session, self._repeats
        with sidecar(context, session, tts_spec(session)) as client:
            with context.check("blocks_compared"):
                asked = self._request(LONG, sample_steps=FEW)
                engine, long = measure_pace(context, session, client, asked, "long_blocks", repeats)
                asked = self._request(SHORT, sample_steps=FEW)
                _, short = measure_pace(context, session, client, asked, "short_blocks", repeats)
                tell(context, advise_blocks(short, long, SHORT, LONG))
            own = engine != "embedded"
            with context.check("steps_compared"):
                self._measure_steps(context, client, long, own=own)
            compare_concurrency(context, session, client)
        if not own:
            with context.check("settings_compared"):
                context.finding("acceptance.embedded", Outcome.SKIPPED)
        return own

    def _request(self, block_s: float, **options: object) -> Mapping[str, object]:
        return self._plan(block_s, **options).request(self._session)

    def _measure_steps(self, context: StageContext, client: SidecarClient, few: Pace, *, own: bool) -> None:
        if not own:
            context.finding("acceptance.no_steps", Outcome.SKIPPED)
        elif self._session.chosen.device_kind == "hip":
            context.finding("acceptance.steps_capped", Outcome.SKIPPED, few=FEW, many=MANY)
        else:
            asked = self._request(LONG, sample_steps=MANY)
            _, many = measure_pace(context, self._session, client, asked, "steps_32", self._repeats)
            tell(context, advise_steps(few, many, FEW, MANY))

    def _measure_stages(self, context: StageContext) -> None:
        """Timing waits for the device around every stage and so costs latency: children of their own, one a bucket."""
        found: dict[str, Vocoder | None] = {}
        for bucket in ("80", "1"):
            with self._restarted(context, {"TTS_SOVITS_SYNC_TIMING": "1", BUCKET: bucket}) as client:
                with context.check("stages_compared"):
                    request = self._request(SHORT, sample_steps=FEW)
                    spoken = [speak_timed(context, self._session, client, request) for _ in range(self._repeats)]
                    found[bucket] = measure_vocoder(context, spoken, bucket)
                if bucket == "80":
                    measure_t2s(context, spoken)
                    with context.check("blocks_over_time"):
                        report_block_drift(context, block_times(spoken[-1]))
        on, off = found["80"], found["1"]
        with context.check("bucket_compared"):
            if on is None or off is None:
                context.finding("acceptance.no_times", Outcome.SKIPPED)
            else:
                tell(context, advise_bucket(on, off))

    def _measure_graph(self, context: StageContext) -> None:
        """Graphs are asked for twice, of the child and in the request, and the child may refuse both times."""
        if self._kind == "cpu":
            with context.check("graph_compared"):
                context.finding("acceptance.graph_not_here", Outcome.SKIPPED, device=self._session.chosen.device_kind)
            return
        with (
            self._restarted(context, {"ENABLE_CUDA_GRAPH": "1"}) as client,
            context.check("graph_compared"),
        ):
            asked = self._request(LONG, enable_cuda_graph=False)
            plain = measure_graph(context, self._session, client, asked, "plain", self._repeats)
            try:
                asked = self._request(LONG, enable_cuda_graph=True)
                graph = measure_graph(context, self._session, client, asked, "graph", self._repeats)
            except SidecarError as error:
                if error.kind != "refused":
                    raise
                context.finding("acceptance.graph_refused", Outcome.SKIPPED, reason=error.detail)
                return
            if plain is None or graph is None:
                context.finding("acceptance.no_token_times", Outcome.SKIPPED)
            else:
                # Our engine has compared the tokens itself before it took the request; of no other is that known.
                compared = tts_engine(self._session) == "gpt_sovits"
                tell(context, advise_graph(plain, graph, equal=True if compared else None))

    def _restarted(self, context: StageContext, changes: Mapping[str, str]) -> AbstractContextManager[SidecarClient]:
        spec = tts_spec(self._session)
        return sidecar(context, self._session, replace(spec, environment={**spec.environment, **changes}))
