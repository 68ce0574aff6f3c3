// Nothing is asked of any other host, and no token outlives the page.
SwaggerUIBundle({
  url: "/docs/openapi.json",
  dom_id: "#interface",
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
});
