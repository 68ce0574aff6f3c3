"""The OpenAPI document, made from what the routes say of themselves.

Every operation says what it takes and answers; what follows from that (who needs a token,
what a bad body costs) is added here, once.
"""
