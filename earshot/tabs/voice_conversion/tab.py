"""Voice conversion: speech → units, which can be edited → the same words in another voice."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import gradio as gr

from earshot.core.paths import ASSETS
from earshot.pretrained.voice import STRENGTH, Nobody
from earshot.provenance.notice import AUTOMATIC, LANGUAGES, NO_NOTICE
from earshot.study.library import VOTE
from earshot.systems.voice_conversion import settings
from earshot.tabs.components.timeline import timeline
from earshot.tabs.components.voice_cards import VOICES, Card, voice_cards
from earshot.tabs.shared.events import (
    CONVERSION_QUEUE,
    HIDDEN,
    LAST,
    QUICK_QUEUE,
    on_model,
    queued,
    reporting,
    stoppable,
)
from earshot.tabs.shared.gradio_internals import example_for_input
from earshot.tabs.shared.parts import chips, how_it_works, main_button, missing_model, sound_input
from earshot.tabs.shared.services import OWN, Services
from earshot.tabs.voice_conversion.events import (
    ConversionComponents,
    ConversionEvents,
    Models,
    declare_endpoints,
)
from earshot.tabs.voice_conversion.live import LivePanel
from earshot.tabs.voice_conversion.own_voice import OwnVoicePanel
from earshot.tabs.voice_conversion.panels import (
    RatesPanel,
    TranscriptAPI,
    TranscriptPanel,
    VotePanel,
)
from earshot.tabs.voice_conversion.side_by_side import ConversionSideBySide
from earshot.tabs.voice_conversion.speaking import (
    ALONE,
    ANY_CARD,
    NOBODY_CARD,
    OWN_CARD,
    SpeakingInputs,
)
from earshot.tabs.voice_conversion.view import draft_item

if TYPE_CHECKING:
    from earshot.systems.registry import Offer
    from earshot.systems.voice_conversion import AnyVoiceConversion
    from earshot.systems.voice_conversion.converter import Converter

INTONATIONS: Final = {"Mine, +200 bit/s": "keep", "Predicted": "predicted"}
NOTICES: Final = [
    ("Where the voice is somebody else’s", AUTOMATIC),
    ("None", NO_NOTICE),
    *((name, language) for language, name in LANGUAGES.items()),
]
VOCODERS: Final = {"Neural, trained here": "neural", "Griffin-Lim, the paper’s": "griffin-lim"}

INTRO: Final = """
<header class="intro"><h2>Say something, see what is kept of it, and hear the same words in another
voice.</h2>
<p>{about} Music and noise become babble, and rare names may be unclear.</p>
</header>
"""
FIVE_VOICES: Final = (
    "A Transformer VQ-VAE, trained without text on read English, commands and single words, with "
    "an inverter to five voices."
)
ANY_VOICE: Final = (
    "Stands on a recogniser that others trained with English text, and learned from read speech by "
    "650 people to tell what was said from who said it. Units that were discovered without text "
    "are among the options. Yours can be the new voice, too."
)
LOUDNESS: Final = (
    '<p class="hint">However loud the recording, its conversion is at −23 to −28 LUFS. '
    "From Python and the command line it can be as loud as the recording.</p>"
)
NO_PROMISE: Final = """
<p class="hint">Another voice at each visit. Up to the middle of the slider, a program that knows
voices still finds most speakers; at its end, one that has this app errs in three of ten, where
guessing errs in five. Nothing promises that nobody finds you: your words, an accent, sounds around
you and who had the file remain, and programs that were trained on such voices know more. Live evens
no tempo.</p>
"""
EXAMPLES: Final = {  # the beginning of what is said in a recording → its file in assets/examples
    "“The keeper of the old lighthouse …”": "woman-lighthouse.ogg",
    "“Can you tell me when the next train …”": "child-train.ogg",
    "“Seven, three, nine, zero …”": "scot-digits.ogg",
    "“Place blue at F two now …”": "man-place-blue.ogg",
}
PLAY: Final = """
watch("value", () => props.value.files.length && new Audio(props.value.files[0].url).play());
"""
MICROPHONE: Final = """
<div class="mic">
<button type="button" class="mic-switch">Check the microphone</button>
<div class="mic-now" hidden>
<div class="mic-level" role="meter" aria-label="Level of the microphone" aria-valuemin="-72"
aria-valuemax="0"><i></i><b title="Noise of the room"></b></div>
<p><span role="status"></span> <small></small></p>
</div>
</div>
"""
STEP: Final = '<h3 class="step">Your speech <span>up to 60 s</span></h3>'


def build(offer: "Offer[Converter]", services: Services) -> gr.Blocks:
    """Build the tab over the systems that it offers, each loaded when first asked for."""
    with gr.Blocks(title="Voice conversion") as tab:
        if offer:
            _layout(tab, offer, services)
        else:
            missing_model("voice_conversion", "any-voice", "speech")
    return tab


def _layout(tab: gr.Blocks, offer: "Offer[Converter]", services: Services) -> None:
    models = Models(offer, offer.labels)
    gr.HTML(INTRO.format(about=ANY_VOICE if models.any_voice else FIVE_VOICES))
    result = gr.State(None, time_to_live=3600)
    seed = gr.State(None)  # of the voice of nobody, one a visit
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            audio, message = _speech_input()
            examples = _example_chips()
            own_card = ANY_CARD if services.allow_reference else OWN_CARD
            drawn = {settings.NOBODY: NOBODY_CARD} if models.any_voice else {}
            voice = voice_cards(
                {name: VOICES[name] for name in models.voices} | drawn,
                settings.DEFAULT_VOICE,
                ASSETS / "voices",
                label="New voice",
                own=(OWN, own_card) if models.any_voice else None,
            )
            strength = _strength(voice)
            own = OwnVoicePanel(services.allow_reference)
            if models.any_voice:
                services.voice.visit = own.visit
            convert, stop = main_button("Convert", ready=False)
            every = gr.Button("Hear it in all voices", size="sm")
            live = LivePanel(offer) if models.live else None
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            lanes = timeline("conversion", "One moment …")
            unit_sound = gr.HTML(
                js_on_load=PLAY, html_template="", value={"html": "", "files": []}, padding=False
            )
            with gr.Row(elem_classes="under-timeline"):
                numbers = gr.HTML(elem_classes="numbers")
                if services.drafts:
                    services.drafts.button(result, draft_item)
                units_file = gr.UploadButton("Load units", size="sm", scale=0)
            words = TranscriptPanel(services.transcriber) if services.transcriber else None
            if services.tests and VOTE.name in services.tests.files():
                VotePanel(services.tests)
            rates = RatesPanel(models, result)
            systems = ConversionSideBySide(offer, services, audio, result)
    model, other, share, intonation, vocoder, notice = _options(models, own_card)
    how_it_works(__file__)

    declare_endpoints(models, audio, voice, model, vocoder, intonation, strength)
    own.wire(lambda: cast("AnyVoiceConversion", models.pipeline(settings.CONTINUOUS)), voice)
    ways = model, vocoder, intonation, own.visit, notice, strength, seed
    chosen = SpeakingInputs(voice, other, share, *ways)
    systems.follow(chosen)
    rates.follow(chosen)
    to = ConversionComponents(
        audio, chosen, message, result, lanes, numbers, unit_sound, units_file
    )
    events = ConversionEvents(models, to)
    outputs = [message, result, lanes, numbers]
    inputs = {audio, result, *chosen.components}
    main = {"outputs": outputs, "progress_on": lanes, "start": convert, "stop": stop}
    main = {**main, "message": message}

    first_look = cache(events.first_look)  # the same for every visit
    tab.load(lambda: {**first_look(), seed: Nobody().seed}, None, [*outputs, seed], **HIDDEN)
    audio.change(
        lambda path: gr.Button(interactive=bool(path)), inputs=audio, outputs=convert, **HIDDEN
    )
    triggers: list[Callable] = [convert.click, audio.stop_recording, audio.upload]
    for chip, path in examples:
        triggers.append(chip.click(partial(example_for_input, path), outputs=audio, **HIDDEN).then)
    if live:
        # What is said next to their own voice changes when it was made.
        changes = [part.change for part in (voice, other, share, model, intonation, own.message)]
        changes.append(strength.release)
        live.wire(models.names, chosen, changes, services.tickets)
        triggers.append(live.keeping(audio, message).success)
    handlers = [
        *((trigger, events.convert) for trigger in triggers),
        (voice.select, events.change_voice),
        (strength.release, events.change_voice),
        (every.click, events.in_all_voices),
    ]
    jobs = []
    for trigger, handler in handlers:
        job = on_model(trigger, handler, inputs, queue=CONVERSION_QUEUE, **main)
        jobs.append(job)
    quick = {**main, "queue": QUICK_QUEUE}
    jobs.append(on_model(lanes.submit, events.speak, inputs, **quick))
    loaded = {units_file, *chosen.components}
    jobs.append(on_model(units_file.upload, events.load, loaded, **quick))
    if words:
        TranscriptAPI(words.load).declare(audio)
        for job in jobs:
            words.follow(job, result)
    lanes.edit(reporting(events.edit, message), inputs=result, outputs=outputs, **HIDDEN)
    lanes.hear(
        stoppable(reporting(events.hear, message)),
        inputs,
        [message, unit_sound],
        **queued(),
        **LAST,
    )


def _strength(voice: gr.HTML) -> gr.Slider:
    """Lay out how much of the speaker goes, where the card of nobody is chosen, and what that is
    worth."""
    with gr.Column(visible=False) as panel:
        strength = gr.Slider(
            0.2,
            1,
            value=STRENGTH,
            step=0.2,
            label="How much of you goes, from a little to all",
            elem_id="strength",
        )
        gr.HTML(NO_PROMISE)
    voice.change(lambda name: gr.Column(visible=name == settings.NOBODY), voice, panel, **HIDDEN)
    return strength


def _speech_input() -> tuple[gr.Audio, gr.HTML]:
    """Lay out the recording to convert, and the message next to it."""
    gr.HTML(STEP)
    audio = sound_input("Speech, up to 60 s")
    _microphone_check()
    return audio, gr.HTML()


def _microphone_check() -> None:
    """Lay out a button that opens the microphone for a quarter of a minute and shows its level in
    dBFS, with a line where the room's noise lies; no sound leaves the page."""
    gr.HTML(
        MICROPHONE,
        css_template=Path(__file__).with_name("microphone_check.css").read_text(),
        js_on_load=Path(__file__).with_name("microphone_check.js").read_text(),
        apply_default_css=False,
    )


def _options(
    models: Models, own: Card
) -> tuple[gr.Dropdown, gr.Dropdown, gr.Slider, gr.Dropdown, gr.Dropdown, gr.Dropdown]:
    """Lay out model, voice to blend in and its share, intonation, vocoder and the notice of
    downloads, in one row, with a line on loudness below. own: the card of the voice that a visitor
    makes."""
    voices = [(card.name, name) for name, card in VOICES.items()]
    with gr.Accordion("Options", open=False) as options, gr.Row(elem_classes="options"):
        model = gr.Dropdown(
            [(label, name) for name, label in models.labels.items()],
            value=models.names[0],
            label="What passes to the new voice",
        )
        intonation = gr.Dropdown(
            list(INTONATIONS.items()),
            value=settings.INTONATIONS[0],
            label="Intonation",
            visible=models.any_voice,
        )
        vocoder = gr.Dropdown(list(VOCODERS.items()), value=settings.VOCODERS[0], label="Vocoder")
        other = gr.Dropdown(
            [("No other", ALONE), *voices, (own.name, OWN)],
            value=ALONE,
            label="Blend with",
            visible=models.any_voice,
        )
        share = gr.Slider(
            0,
            1,
            value=0.5,
            step=0.05,
            label="Its share",
            visible=models.any_voice,
        )
        notice = gr.Dropdown(NOTICES, value=AUTOMATIC, label="Spoken notice in downloads")
    with options:
        gr.HTML(LOUDNESS)
    return model, other, share, intonation, vocoder, notice


def _example_chips() -> list[tuple[gr.Button, Path]]:
    """Lay out a button for each recording of EXAMPLES that is there, with what is said in it."""
    places = {label: ASSETS / "examples" / name for label, name in EXAMPLES.items()}
    paths = {label: path for label, path in places.items() if path.exists()}
    return list(zip(chips(paths) if paths else [], paths.values(), strict=True))
