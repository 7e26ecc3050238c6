"use strict";

// Starts Swagger UI on the OpenAPI document of this server.

const start = async () => {
  const res = await fetch("/api/openapi.json");
  if (!res.ok) throw new Error(`${res.status} ${res.statusText}`);
  const spec = await res.json();
  // The page's policy allows requests to its own origin only, which need not be BASE_URL.
  spec.servers = [{ url: location.origin }];
  SwaggerUIBundle({
    spec,
    domNode: document.getElementById("viewer"),
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    tagsSorter: "alpha",
    tryItOutEnabled: true,
    validatorUrl: null,
    withCredentials: true,
  });
};

start().catch((err) => { document.getElementById("viewer").textContent = "The OpenAPI document could not be loaded: " + err.message; });
