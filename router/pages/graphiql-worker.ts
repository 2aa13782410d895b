import { parentPort } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from '@graphql-yoga/render-graphiql/graphiql'

// The package is one module of nine megabytes, which stays in memory as long as the thread that imported it: so this
// thread imports it, packs its
// content, and ends.
const parts = { js, css, editorWorkerService, graphqlWorker, jsonWorker }
parentPort!.postMessage(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, gzipSync(text)])))
