import { Worker } from 'node:worker_threads'
import type { FastifyInstance } from 'fastify'
import { type Asset, ownFile, packageFile, serveAssets } from './assets.ts'
import type { SendPage } from './layout.ts'

const folder = '/explorer/assets'

/**
 * The files of GraphiQL, built by GraphQL Yoga:
 * https://github.com/graphql-hive/graphql-yoga/tree/main/packages/graphiql.
 */
type Part = 'js' | 'css' | 'editorWorkerService' | 'graphqlWorker' | 'jsonWorker'

let packing: Promise<Readonly<Record<Part, Uint8Array>>> | undefined

/** Compresses all files in a worker thread at the first request. */
function packedParts(): NonNullable<typeof packing> {
  packing ??= new Promise<Readonly<Record<Part, Uint8Array>>>((done, fail) => {
    const thread = new Worker(new URL('./graphiql-worker.ts', import.meta.url))
    thread.once('message', done).once('error', fail)
  }).catch(error => {
    packing = undefined
    throw error
  })
  return packing
}

const part = (name: Part) => async () => ({ packed: Buffer.from((await packedParts())[name]) })

const files: readonly Asset[] = [
  { path: `${folder}/graphiql.js`, type: 'text/javascript', load: part('js') },
  { path: `${folder}/graphiql.css`, type: 'text/css', load: part('css') },
  { path: `${folder}/editor.worker.js`, type: 'text/javascript', load: part('editorWorkerService') },
  { path: `${folder}/graphql.worker.js`, type: 'text/javascript', load: part('graphqlWorker') },
  { path: `${folder}/json.worker.js`, type: 'text/javascript', load: part('jsonWorker') },
  { path: `${folder}/graphql-ws.js`, type: 'text/javascript', load: packageFile('graphql-ws', '../umd/graphql-ws.min.js') },
  { path: `${folder}/explorer.js`, type: 'text/javascript', load: ownFile('explorer.js') },
]

/**
 * Serves GraphiQL at `/explorer`: queries over HTTP, subscriptions over graphql-ws, both at the page's own origin.
 * @param variants names of the graph's variants, each with an explorer at `/explorer/<name>`
 */
export function serveExplorer(app: FastifyInstance, sendPage: SendPage, variants: readonly string[]): void {
  serveAssets(app, files)
  for (const variant of [null, ...variants]) {
    const path = variant === null ? '/explorer' : `/explorer/${variant}`
    app.get(path, async (_request, reply) =>
      sendPage(
        reply,
        {
          title: variant === null ? 'GraphQL explorer' : `GraphQL explorer: ${variant}`,
          content: '<div id="explorer"><p>The explorer needs JavaScript, which this browser does not run, or has not loaded yet.</p></div>',
          styles: [`${folder}/graphiql.css`],
          scripts: [`${folder}/graphql-ws.js`, `${folder}/graphiql.js`, `${folder}/explorer.js`],
          layout: 'application',
          // The editor creates inline styles and web workers.
          policy: { 'style-src': "'self' 'unsafe-inline'", 'worker-src': "'self'" },
        },
        path,
      ),
    )
  }
}
