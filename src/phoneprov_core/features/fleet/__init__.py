"""The phones as they are: adopted, replaced, seen."""
