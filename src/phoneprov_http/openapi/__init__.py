"""The OpenAPI document. Litestar makes it from the handlers and their types; ``document``
completes what types cannot say."""
