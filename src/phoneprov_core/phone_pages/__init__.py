"""Pages for the screen of a phone: CiscoIPPhone objects as values, and their XML."""
