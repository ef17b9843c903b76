// The editor at /graphiql. It asks the GraphQL handler beside it, wherever
// both are mounted.
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { GraphiQL } from "graphiql";
import "graphiql/style.css";
import "./page.css";

const endpoint = new URL("graphql", document.baseURI);

async function fetcher(params, options) {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", ...options?.headers },
    body: JSON.stringify(params),
  });
  return response.json();
}

const welcome = `# headwater: where data comes from, and what it feeds.
#
# The schema is under the book symbol on the left. Try:

{
  search(query: "orders", first: 5) {
    nodes {
      __typename
      id
      namespace
      name
    }
  }
}
`;

createRoot(document.getElementById("graphiql")).render(
  createElement(GraphiQL, { fetcher, schemaDescription: true, defaultQuery: welcome, defaultEditorToolsVisibility: true }),
);
