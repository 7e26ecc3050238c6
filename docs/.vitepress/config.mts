import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { defineConfig } from "vitepress";

// Links that leave docs/ lead to files of the repository. The site shows them where the repository is hosted.
const repository = process.env.DOCS_REPOSITORY ?? "https://github.com/shortline/shortline";
const docs = resolve(import.meta.dirname, "..");
const root = dirname(docs);

const page = (text: string, link: string) => ({ text, link });

export default defineConfig({
  title: "Shortline",
  description: "Self-hosted short links with routing rules, A/B tests and exact click counts",
  outDir: "../bin/docs",
  cacheDir: "../.cache/vitepress",
  cleanUrls: true,
  rewrites: { "README.md": "index.md", "adr/README.md": "adr/index.md", "operators/alerts/README.md": "operators/alerts/index.md" },
  lastUpdated: false,
  markdown: {
    config(md) {
      md.core.ruler.push("repository-links", (state) => {
        const page = resolve(docs, state.env.relativePath === "index.md" ? "README.md" : state.env.relativePath);
        for (const block of state.tokens) {
          for (const token of block.children ?? []) {
            const href = token.attrGet("href");
            if (!href || /^([a-z]+:|#|\/)/.test(href)) continue;
            const target = resolve(dirname(page), decodeURI(href.split("#")[0]));
            if (!relative(docs, target).startsWith("..")) continue;
            if (!existsSync(target)) throw new Error(`${state.env.relativePath}: dead link ${href}`);
            token.attrSet("href", `${repository}/blob/main/${relative(root, target)}`);
          }
        }
      });
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      page("Users", "/users/getting-started"),
      page("Operators", "/operators/operations"),
      page("Developers", "/architecture"),
    ],
    sidebar: [
      {
        text: "Users",
        items: [
          page("Getting started", "/users/getting-started"),
          page("The console", "/users/console"),
          page("Import links", "/users/import"),
          page("Routing rules", "/users/rules"),
          page("Run an experiment", "/users/run-an-experiment"),
          page("Experiments", "/users/experiments"),
          page("Send conversions", "/users/send-conversions"),
          page("Custom domains", "/users/domains"),
          page("Using the API", "/users/api"),
          page("Versions of the API", "/users/api-versions"),
          page("Health of destinations", "/users/destination-health"),
          page("Alerts", "/users/alerts"),
          page("Reports by mail", "/users/mail-reports"),
          page("Assistants (MCP)", "/users/mcp"),
          page("Webhooks", "/users/webhooks"),
          page("Glossary", "/glossary"),
        ],
      },
      {
        text: "Operators",
        items: [
          page("Operating Shortline", "/operators/operations"),
          page("Kubernetes", "/operators/kubernetes"),
          page("Sizing", "/operators/sizing"),
          page("Several regions", "/operators/regions"),
          page("Reverse proxies", "/operators/reverse-proxy"),
          page("Single sign-on", "/operators/sso"),
          page("Troubleshooting", "/operators/troubleshooting"),
          page("Alerts", "/operators/alerts/"),
          page("Promises", "/operators/promises"),
          page("Security model", "/operators/security"),
          page("Settings", "/operators/settings"),
          page("Metrics", "/operators/metrics"),
          page("Licences", "/operators/licences"),
        ],
      },
      {
        text: "Developers",
        items: [
          page("Architecture", "/architecture"),
          page("Style", "/style"),
          page("Finding your way", "/developers/finding-your-way"),
          page("Formats", "/developers/formats"),
          page("Reliability", "/developers/reliability"),
          page("Performance", "/developers/performance"),
          page("Capacity", "/developers/capacity"),
          page("Statistics of experiments", "/developers/experiments"),
          page("Decisions", "/adr/"),
        ],
      },
    ],
  },
});
