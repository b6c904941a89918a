"""The page: every tab over the systems that it offers."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr
from starlette.routing import BaseRoute

from earshot.app.health import Health, probes
from earshot.app.options import DELETE_AFTER
from earshot.core.loading import once
from earshot.core.paths import ASSETS, CHECKPOINTS, PIPELINES
from earshot.systems.registry import TASKS, Offer, load_board
from earshot.tabs import lip_to_speech, listening_tests, sound_search, voice_conversion, words
from earshot.tabs.shared.detection import DetectionSection
from earshot.tabs.shared.events import stop_jobs
from earshot.tabs.shared.gradio_internals import create_apps_at_launch
from earshot.tabs.shared.page import FOOTER, HEADER, model_cards_section
from earshot.tabs.shared.services import Drafts, Services

if TYPE_CHECKING:
    from earshot.pretrained.recogniser import Transcriber
    from earshot.systems.sound_search import SoundSearch
    from earshot.systems.voice_conversion.converter import Converter

SOUNDS: Final = ASSETS / "sounds.index"
WORDS: Final = ASSETS / "words.index"
FOLDERS: Final = (PIPELINES, PIPELINES / "hub")  # of our files of systems


class Site(gr.Blocks):
    """The page, and for its server the routes by which it fetches what it shows, what it offers to
    its tabs, what watches its models, the folder of the checkpoints, and the systems of voice
    conversion, of which some speak live."""

    services: Services
    health: Health | None
    checkpoints: Path
    conversion: "Offer[Converter]"
    routes: Sequence[BaseRoute]


def build(
    services: Services = Services(),  # noqa: B008  (frozen)
    folder: Path = CHECKPOINTS,
    pipelines: Sequence[Path] = FOLDERS,
    preload: bool = False,
    sound_model: Sequence[str] | None = None,
    index: Path = SOUNDS,
    word_index: Path = WORDS,
    health: Health | None = None,
    index_backend: str | None = None,
    delete_after: int = DELETE_AFTER,
) -> Site:
    """Build the whole page. Loads no model unless preload says so.

    services: what the page offers to its tabs; drafts of listening tests are made here. folder: of
    the checkpoints; pipelines: folders of files that name the systems of each tab; sound_model:
    what searches sounds in place of those; index, word_index: of our libraries of sounds and of
    words; health: is to watch the models; index_backend: where the index is searched, if not as it
    was made; delete_after: seconds within which visitors' files are deleted.
    """
    create_apps_at_launch()
    device = services.device
    board = load_board(*pipelines)
    for fault in board.faults:
        print(fault, file=sys.stderr)
    services = replace(services, plug_in_faults=board.faults)
    hub = not services.hub.refusal
    offers = {task: board.offer(task, folder, device, hub) for task in TASKS}
    if sound_model:
        offers["sound_search"] = _named_sound_search(sound_model, device)
    if health:
        health.watch(probes(offers))
    if preload:
        for offer in offers.values():
            for name in offer.labels:
                offer(name)
        if services.transcriber:
            services.transcriber()
    sounds = sound_search.DemoLibrary(index, index_backend)
    often = max(1, delete_after // 6)  # seconds between looks
    cache = often, delete_after - often
    with Site(title="Earshot", analytics_enabled=False, delete_cache=cache) as page:
        gr.HTML(HEADER, apply_default_css=False)
        if services.tests:
            services = replace(services, drafts=Drafts())
        # Wrapped, for what Gradio takes to be too long goes into a menu, on phones even two tabs.
        with gr.Tabs(overflow_behavior="wrap"):
            with gr.Tab("Voice conversion"):
                conversion = offers["voice_conversion"]
                voice_conversion.build(conversion, services)
                model_cards_section(folder, "voice_conversion")
            with gr.Tab("Words"):
                words.build(offers["words"], word_index, services)
                model_cards_section(folder, "words")
            with gr.Tab("Sound search"):
                sound_search.build(offers["sound_search"], sounds, services)
                model_cards_section(folder, "sound_search")
            with gr.Tab("Lip to speech"):
                lip_to_speech.build(offers["lip_to_speech"], services)
                model_cards_section(folder, "lip_to_speech")
            if services.tests:
                with gr.Tab("Listening tests"):
                    listening_tests.build(services)
        DetectionSection()
        gr.HTML(FOOTER, apply_default_css=False)
        page.unload(stop_jobs)  # nobody waits for them any more
    page.services, page.health, page.checkpoints = services, health, folder
    page.conversion = offers["voice_conversion"]
    page.routes = [sounds.route()]
    return page


def _named_sound_search(models: Sequence[str], device: str) -> "Offer[SoundSearch]":
    """Offer models that the operator named, a CLAP or checkpoints, in place of all others."""

    def load(_: str) -> "SoundSearch":
        from earshot.systems.sound_search import SoundSearch  # late, for it loads torch

        return SoundSearch.from_pretrained(models, device)

    name = " + ".join(models)
    return Offer(load, {name: name})


def transcriber(name: str | None, device: str) -> "Callable[[], Transcriber] | None":
    """Return what loads the writer of the words of speech: the installed recogniser for "", a
    Moonshine of the hub, or its folder, by its name; None for no words."""
    if name is None:
        return None

    def load() -> "Transcriber":
        from earshot.pretrained.recogniser import Transcriber  # late, for it loads torch

        return Transcriber.from_pretrained(name, device)

    return once(load)
