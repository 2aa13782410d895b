import type { FastifyInstance } from 'fastify'
import { type Asset, ownFile, packageFile, serveAssets } from './assets.ts'
import type { SendPage } from './layout.ts'

const folder = '/explorer/assets'

/** GraphiQL as one file each, built by GraphQL Yoga: https://github.com/graphql-hive/graphql-yoga/tree/main/packages/graphiql. */
type Part = 'js' | 'css' | 'editorWorkerService' | 'graphqlWorker' | 'jsonWorker'

const part = (name: Part) => async () => (await import('@graphql-yoga/render-graphiql/graphiql'))[name]

const files: readonly Asset[] = [
  { path: `${folder}/graphiql.js`, type: 'text/javascript', load: part('js') },
  { path: `${folder}/graphiql.css`, type: 'text/css', load: part('css') },
  { path: `${folder}/editor.worker.js`, type: 'text/javascript', load: part('editorWorkerService') },
  { path: `${folder}/graphql.worker.js`, type: 'text/javascript', load: part('graphqlWorker') },
  { path: `${folder}/json.worker.js`, type: 'text/javascript', load: part('jsonWorker') },
  { path: `${folder}/graphql-ws.js`, type: 'text/javascript', load: packageFile('graphql-ws', '../umd/graphql-ws.min.js') },
  { path: `${folder}/explorer.js`, type: 'text/javascript', load: ownFile('explorer.js') },
]

/** Serves GraphiQL at `/explorer`: queries over HTTP, subscriptions over graphql-ws, both at this page's own origin. */
export function serveExplorer(app: FastifyInstance, sendPage: SendPage): void {
  serveAssets(app, files)
  app.get('/explorer', async (_request, reply) =>
    sendPage(
      reply,
      {
        title: 'GraphQL explorer',
        content: '<div id="explorer"><p>The explorer needs JavaScript, which this browser does not run, or has not loaded yet.</p></div>',
        styles: [`${folder}/graphiql.css`],
        scripts: [`${folder}/graphql-ws.js`, `${folder}/graphiql.js`, `${folder}/explorer.js`],
        layout: 'application',
        // Its editor writes styles, and works in workers.
        policy: { 'style-src': "'self' 'unsafe-inline'", 'worker-src': "'self'" },
      },
      '/explorer',
    ),
  )
}
