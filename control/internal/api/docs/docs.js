"use strict";

// Shows the OpenAPI document and sends requests from it. Text from the document only ever becomes text nodes.

const make = (tag, props = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
};

let api;

const resolve = (schema = {}) => {
  while (schema.$ref) schema = api.components.schemas[schema.$ref.split("/").pop()];
  return schema;
};

// example makes a value that a schema describes.
const example = (schema, depth = 0) => {
  schema = resolve(schema);
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const type = [].concat(schema.type ?? []).find((t) => t !== "null");
  if (type === "object" && depth < 6) {
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, s]) => [name, example(s, depth + 1)]));
  }
  if (type === "array") return depth < 6 ? [example(schema.items, depth + 1)] : [];
  return { string: "", integer: schema.minimum ?? 0, number: 0, boolean: true }[type] ?? null;
};

const typeOf = (schema) => {
  schema = resolve(schema);
  if (schema.enum) return schema.enum.join(" | ");
  const type = [].concat(schema.type ?? "any").join(" or ");
  return schema.items ? `${type} of ${typeOf(schema.items)}` : type;
};

const show = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

const send = async (method, path, inputs, body, output) => {
  let address = path;
  const query = new URLSearchParams();
  for (const { where, name, input } of inputs) {
    if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (where === "query" && input.value !== "") query.set(name, input.value);
  }
  if (query.size) address += "?" + query;
  const headers = {};
  const credential = document.getElementById("credential").value.trim();
  if (credential) headers.Authorization = "Bearer " + credential;
  let payload = body?.value || undefined;
  if (payload) headers["Content-Type"] = "application/json";
  const file = inputs.find((i) => i.where === "form");
  if (file) {
    payload = new FormData(); // the browser sets the Content-Type, which holds the form's boundary
    if (file.input.files[0]) payload.append(file.name, file.input.files[0]);
  }
  output.textContent = "…";
  try {
    const res = await fetch(address, { method: method.toUpperCase(), headers, body: payload });
    const type = res.headers.get("Content-Type") ?? "";
    let shown = `${type} of ${res.headers.get("Content-Length") ?? "some"} bytes`;
    if (!type.startsWith("image/")) {
      const text = await res.text();
      shown = text;
      try { shown = show(JSON.parse(text)); } catch { /* not JSON: shown as it is */ }
    }
    const limit = res.headers.get("X-RateLimit-Remaining");
    output.textContent = `${method.toUpperCase()} ${address}\n${res.status} ${res.statusText}${limit === null ? "" : `, ${limit} requests left`}\n\n${shown}`;
  } catch (err) {
    output.textContent = String(err);
  }
};

const operation = (path, method, op) => {
  const inner = make("div", { className: "body" });
  if (op.description) inner.append(make("p", { textContent: op.description }));
  const inputs = (op.parameters ?? []).filter((p) => p.in !== "header").map((p) => {
    const input = make("input", { placeholder: String(p.schema?.default ?? ""), autocomplete: "off" });
    inner.append(make("label", { className: "field" }, make("code", { textContent: p.name }), ` ${p.in}${p.required ? ", required" : ""} `,
      make("small", { textContent: `${typeOf(p.schema)} ${p.description ?? ""}` }), input));
    return { where: p.in, name: p.name, input };
  });
  for (const name of Object.keys(op.requestBody?.content?.["multipart/form-data"]?.schema.properties ?? {})) {
    const input = make("input", { type: "file" });
    inner.append(make("label", { className: "field" }, make("code", { textContent: name }), " file", input));
    inputs.push({ where: "form", name, input });
  }
  const schema = op.requestBody?.content?.["application/json"]?.schema;
  let body;
  if (schema) {
    const fields = resolve(schema);
    for (const [name, s] of Object.entries(fields.properties ?? {})) {
      inner.append(make("div", { className: "field" }, make("code", { textContent: name }), fields.required?.includes(name) ? " required " : " ",
        make("small", { textContent: `${typeOf(s)} ${s.description ?? resolve(s).description ?? ""}` })));
    }
    const media = op.requestBody.content["application/json"];
    body = make("textarea", { value: JSON.stringify(media.example ?? example(schema), null, 2), spellcheck: false, ariaLabel: "request body" });
    inner.append(body);
  }
  const output = make("pre", { textContent: Object.entries(op.responses ?? {}).map(([code, r]) => `${code} ${r.description ?? ""}`).join("\n") });
  inner.append(make("button", { type: "button", textContent: "Send", onclick: () => send(method, path, inputs, body, output) }), output);
  const node = make("details", {}, make("summary", {}, make("span", { className: "method", textContent: method.toUpperCase() }),
    make("code", { textContent: path }), make("span", { textContent: op.summary ?? "" })), inner);
  node.dataset.text = `${method} ${path} ${op.summary ?? ""}`.toLowerCase();
  return node;
};

const start = async () => {
  api = await (await fetch("/api/openapi.json")).json();
  document.getElementById("about").textContent = `${api.info.description} Version ${api.info.version}.`;
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, op] of Object.entries(methods)) {
      const tag = op.tags?.[0] ?? "Other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operation(path, method, op));
    }
  }
  const main = document.getElementById("operations");
  for (const [tag, nodes] of [...groups].sort(([a], [b]) => a.localeCompare(b))) {
    main.append(make("section", {}, make("h2", { textContent: tag }), ...nodes));
  }
  document.getElementById("find").addEventListener("input", (e) => {
    const text = e.target.value.trim().toLowerCase();
    for (const section of main.children) {
      let any = false;
      for (const node of section.querySelectorAll("details")) {
        node.hidden = !node.dataset.text.includes(text);
        any ||= !node.hidden;
      }
      section.hidden = !any;
    }
  });
};

start().catch((err) => { document.getElementById("about").textContent = "The OpenAPI document can't be loaded: " + err; });
