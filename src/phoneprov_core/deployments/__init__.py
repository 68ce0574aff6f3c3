"""What was put onto which phone, by whom, and how it went."""
