import os
from pathlib import Path

import pytest

from discreet import _binary


@pytest.mark.skipif("DISCREET_BINARY" in os.environ, reason="the binary is not the wheel's")
def test_the_wheel_carries_the_licences_of_what_is_in_it():
    beside = Path(_binary.path()).parent
    assert "Apache License" in (beside / "LICENSE").read_text(encoding="utf-8")
    notices = (beside / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    assert "Copyright 2009 The Go Authors" in notices
    assert notices.count("\n| ") > 20
