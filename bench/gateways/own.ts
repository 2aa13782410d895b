/**
 * Program with our engine over remote subgraphs behind a bare HTTP server. Arguments: the supergraph's file, the
 * subgraphs' origin, and `deduplicate` to combine equal concurrent requests.
 */
import { readFileSync } from 'node:fs'
import { type DocumentNode, parse, validate } from 'graphql'
import { createEngine } from '../../router/engine/native/native.ts'
import { createRemoteTransport } from '../../router/engine/transport/remote.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { parts } from '../shop/graph.ts'
import { serve } from './serve.ts'

const [, , file, origin, sharing] = process.argv
const transport = createRemoteTransport({
  subgraphs: new Map(Object.keys(parts).map(name => [name, { url: `${origin}/${name}` }])),
  deduplicate: sharing === 'deduplicate',
})
const engine = createEngine({ supergraphSdl: readFileSync(file!, 'utf8'), transport, log: console })
const documents = new Map<string, DocumentNode>()

function read(query: string): DocumentNode {
  const known = documents.get(query)
  if (known) return known
  const document = parse(query)
  const errors = validate(engine.schema, document)
  if (errors.length > 0) throw new Error(errors.join('\n'))
  documents.set(query, document)
  return document
}

serve(async query => JSON.stringify(await engine.execute({ document: read(query), viewer: anonymous, requestId: 'bench' })))
