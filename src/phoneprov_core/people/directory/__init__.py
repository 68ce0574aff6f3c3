"""Contacts of the company and personal contacts of users."""
