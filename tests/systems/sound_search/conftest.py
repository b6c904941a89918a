"""The same encoder and index as in the tests of the index."""

from tests.sound_index.conftest import encoder as encoder
from tests.sound_index.conftest import folder as folder
from tests.sound_index.conftest import index as index
