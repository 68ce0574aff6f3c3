// Nothing is asked of any other host, and no token outlives the page.
// A proxy may serve all of it below a prefix, which the document does not know.
const prefix = location.pathname.replace(/\/docs$/, "");
SwaggerUIBundle({
  url: "docs/openapi.json",
  requestInterceptor: (request) => {
    const path = request.url.replace(location.origin, "");
    if (path.startsWith("/api/")) request.url = prefix + path;
    return request;
  },
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
