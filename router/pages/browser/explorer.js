// Runs in browsers: puts GraphiQL into the page and tells it how to ask this platform.
const workers = { editorWorkerService: 'editor', graphql: 'graphql', json: 'json' }
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => `/explorer/assets/${workers[label] ?? 'editor'}.worker.js` }

// The explorer of a variant of the graph is below that of the whole graph, as its endpoint is.
const variant = /^\/explorer\/([^/]+)/.exec(location.pathname)?.[1]
const endpoint = new URL(variant ? `/graphql/${variant}` : '/graphql', location.href)
const socket = new URL(endpoint)
socket.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'

/** Asks over HTTP, and over WebSocket for what goes on. The headers of the editor are the credentials of either. */
function fetcher(params, { headers = {}, documentAST } = {}) {
  const operations = documentAST?.definitions.filter(({ kind }) => kind === 'OperationDefinition') ?? []
  const chosen = operations.find(({ name }) => name?.value === params.operationName) ?? operations[0]
  return chosen?.operation === 'subscription' ? listen(params, headers) : ask(params, headers)
}

async function ask(params, headers) {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify(params),
  })
  return answer.json()
}

async function* listen(params, headers) {
  const client = graphqlWs.createClient({ url: socket.href, connectionParams: headers, retryAttempts: 0 })
  try {
    yield* client.iterate(params)
  } catch (error) {
    // What closes a socket is an event with a code, and no error.
    yield 'code' in error ? { errors: [{ message: `The socket was closed: ${error.code} ${error.reason}` }] } : { errors: [].concat(error) }
  } finally {
    client.dispose()
  }
}

YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#explorer'), {
  fetcher,
  title: 'Supergraph',
  // GraphiQL's own choice: the history. The prebuilt one replaces it by a builder of queries.
  plugins: undefined,
  variables: new URLSearchParams(location.search).get('variables') ?? undefined,
  // A token in the browser's storage would outlive the page.
  shouldPersistHeaders: false,
  inputValueDeprecation: true,
  schemaDescription: true,
  defaultQuery: variant
    ? '# Ctrl+Enter runs the operation in which the cursor stands.\n'
    : `# Ctrl+Enter runs the operation in which the cursor stands.
# Who is signed in here (/identity/login) asks as that person. Anybody else writes
# into Headers, below:  { "Authorization": "Bearer …" }  or  { "X-API-Key": "…" }

query Me {
  viewer {
    kind
    user { name }
    organization { name }
    scopes
  }
}

subscription Widgets {
  widgetUpdated { title payload { statistics { label value } } }
}
`,
})
