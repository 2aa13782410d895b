/**
 * Program that serves the shop's subgraphs over HTTP, one path each, and subscriptions by graphql-ws at the same paths:
 * each message to it is an event. Answers are cached by request body, so that only the gateway before it is measured.
 * It reports `{ port }` to its parent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { execute, parse } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import { createMemoryEvents, mapEvents } from '../../platform/events.ts'
import { shopSchemas } from './supergraph.ts'

const schemas = shopSchemas()
const answers = new Map<string, Buffer>()
/** Number of different bodies above which the measurement is wrong: some gateway makes every body different. */
const mostAnswers = 2000
let requests = 0

async function answerTo(subgraph: string, body: string): Promise<Buffer> {
  const known = answers.get(subgraph + body)
  if (known) return known
  const schema = schemas.get(subgraph)
  if (!schema) throw new Error(`There is no subgraph "${subgraph}"`)
  const { query, variables, operationName } = JSON.parse(body)
  const answer = Buffer.from(JSON.stringify(await execute({ schema, document: parse(query), variableValues: variables, operationName })))
  if (answers.size >= mostAnswers) throw new Error('Too many different requests: answers cannot be kept')
  answers.set(subgraph + body, answer)
  return answer
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/count') {
    response.end(String(requests))
    return
  }
  let body = ''
  request.setEncoding('latin1')
  request.on('data', chunk => {
    body += chunk
  })
  request.on('end', async () => {
    requests++
    try {
      const answer = await answerTo(request.url!.slice(1), body)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer)
    } catch (error) {
      console.error(error)
      response.writeHead(500).end()
    }
  })
}

const server = createServer({ keepAliveTimeout: 600_000 }, serve)
const events = createMemoryEvents()
/** The row of `live/graph.ts`. */
const added = { id: '1', body: 'Fine.', authorId: '2', upc: '3' }
const reviewAdded = () => mapEvents(events.listen(['review']), () => ({ reviewAdded: added }))
useServer({ schema: schemas.get('reviews')!, roots: { subscription: { reviewAdded } } }, new WebSocketServer({ server, path: '/reviews' }))
process.on('message', () => events.announce('review', {}))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
