/** Program with our engine and the shop's subgraphs in its process. Arguments: the supergraph's file. */
import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { createEngine } from '../../router/engine/native/native.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { query } from '../shop/graph.ts'
import { shopSubgraphs } from '../shop/supergraph.ts'
import { takeTurns } from '../turns.mjs'

const engine = createEngine({ supergraphSdl: readFileSync(process.argv[2]!, 'utf8'), transport: createEmbeddedTransport(shopSubgraphs()), log: console })
const document = parse(query)

await takeTurns(async () => JSON.stringify(await engine.execute({ document, viewer: anonymous, requestId: 'bench' })))
