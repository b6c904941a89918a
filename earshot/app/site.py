"""The page: every tab over its pipeline."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr
from starlette.routing import BaseRoute

from earshot.app import models
from earshot.app.health import Health, probes
from earshot.app.options import DELETE
from earshot.core.paths import ASSETS, CHECKPOINTS
from earshot.pretrained.hub_download import HubPermission
from earshot.tabs import lip_to_speech, listening_tests, sound_search, voice_conversion, words
from earshot.tabs.shared.events import stop_jobs
from earshot.tabs.shared.page import FOOTER, HEADER, model_cards
from earshot.tabs.shared.services import Drafts, Services, Tickets

if TYPE_CHECKING:
    from earshot.study.library import TestLibrary

SOUNDS: Final = ASSETS / "sounds.index"
WORDS: Final = ASSETS / "words.index"


class Site(gr.Blocks):
    """The page, and the routes by which it fetches what it shows, for the server."""

    routes: Sequence[BaseRoute] = ()


def build(
    device: str = "auto",
    folder: Path = CHECKPOINTS,
    preload: bool = False,
    sound_model: Sequence[str] | None = None,
    index: Path = SOUNDS,
    word_index: Path = WORDS,
    tests: "TestLibrary | None" = None,
    publishing: bool = True,
    health: Health | None = None,
    tickets: Tickets | None = None,
    hub: HubPermission = HubPermission(),  # noqa: B008  (frozen)
    index_backend: str | None = None,
    delete_after: int = DELETE,
    allow_reference: bool = False,
    transcripts: str | None = None,
) -> Site:
    """Build the whole page. Loads no model unless preload says so. index, word_index: of our
    libraries of sounds and of words; tests: listening tests, which launch must be given too;
    publishing: whether visitors may open tests of their own to raters; health: is to watch the
    models, and launch must be given it too; tickets: lend visitors' own voices to live conversion,
    as launch is told; hub: which models of the hub visitors may load; index_backend: where the
    index is searched, if not as it was made; delete_after: seconds within which visitors' files are
    deleted; allow_reference: whether visitors may upload a recording of anybody as the voice to
    speak in; transcripts: the Moonshine that writes down the words of a conversion, "" for the
    installed one, None for no words."""
    convert = models.converters(folder, device)
    conversions = models.installed_conversion_models(folder)
    embeddings = models.word_embeddings(folder, device)
    search = models.sounds(folder, device, sound_model)
    lips = models.lip_reader(folder, device)
    if health:
        health.watch(probes(convert, conversions, embeddings, search, lips))
    words_of = None if transcripts is None else models.transcriber(transcripts, device)
    if preload:
        for name in conversions:
            convert(name)
        for load in filter(None, (embeddings, search, lips, words_of)):
            load()
    sounds = sound_search.DemoLibrary(index, index_backend)
    often = max(1, delete_after // 6)  # seconds between looks
    kept = often, delete_after - often
    with Site(title="Earshot", analytics_enabled=False, delete_cache=kept) as page:
        gr.HTML(HEADER, apply_default_css=False)
        services = Services(
            drafts=Drafts() if tests else None,
            tests=tests,
            publishing=publishing,
            tickets=tickets or Tickets(),
            allow_reference=allow_reference,
            transcriber=words_of,
            hub=hub,
            device=device,
        )
        # Wrapped, for what Gradio takes to be too long goes into a menu, on phones even two tabs.
        with gr.Tabs(overflow_behavior="wrap"):
            with gr.Tab("Voice conversion"):
                voice_conversion.build(convert, conversions, services)
            with gr.Tab("Words"):
                words.build(embeddings, word_index, services)
            with gr.Tab("Sound search"):
                sound_search.build(search, sounds, services)
            with gr.Tab("Lip to speech"):
                lip_to_speech.build(lips, services)
            if tests:
                with gr.Tab("Listening tests"):
                    listening_tests.build(services)
        with gr.Accordion("Model cards", open=False):
            gr.Markdown(model_cards(folder))
        gr.HTML(FOOTER, apply_default_css=False)
        page.unload(stop_jobs)  # nobody waits for them any more
    page.routes = [sounds.route()]
    return page
