"""Write assets/notices: "This voice was changed by a computer", said by espeak-ng in six languages.

python -m scripts.build_notices
"""

import subprocess
from typing import Final

import numpy as np

from earshot.core.files import write
from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.media.encode import encode_audio
from earshot.provenance.notice import FOLDER, LANGUAGES

VOICES: Final = {"zh": "cmn"}  # as espeak-ng calls them, where it is otherwise
TEXTS: Final = {
    "en": "This voice was changed by a computer.",
    "ar": "هذا الصوت غيّره حاسوب.",
    "de": "Diese Stimme wurde von einem Computer verändert.",
    "es": "Esta voz fue modificada por un ordenador.",
    "fr": "Cette voix a été modifiée par un ordinateur.",
    "zh": "此声音由电脑处理。",
}
SPEED: Final = {"zh": "300"}  # words a minute, where it is not USUAL
USUAL: Final = "195"
BIT_RATE: Final = 24_000  # bit/s
LEVEL: Final = -23.0  # LUFS
SILENT: Final = 0.003


def main() -> None:
    """Write every notice, without the silence around it."""
    for language in LANGUAGES:
        voice = VOICES.get(language, language)
        how = ["-v", voice, "-s", SPEED.get(language, USUAL)]
        command = ["espeak-ng", *how, "--stdout", TEXTS[language]]
        sound = load(subprocess.run(command, check=True, capture_output=True).stdout).waveform
        loud = np.flatnonzero(np.abs(sound) > SILENT)
        sound = match_loudness(sound[loud[0] : loud[-1] + 1], SAMPLE_RATE, LEVEL)
        content = encode_audio(sound, SAMPLE_RATE, ".opus", "", BIT_RATE)
        write(FOLDER / f"{language}.opus", content)


if __name__ == "__main__":
    main()
