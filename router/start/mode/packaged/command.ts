import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { optional } from '../../../engine/package/host/optional.ts'
import { createEngine, type GatewayEngine } from '../../../engine/package/standalone/create-engine.ts'
import type { Logger } from '../../../engine/package/types.ts'
import { version } from '../../../engine/package/version.ts'
import { forClients, type PublicEngine } from './for-clients.ts'
import { createDoor, mostBytes } from './http-door.ts'
import { createSubgraphHeaders } from './propagated.ts'
import { type SourceSettings, sourceOf } from './supergraph-source.ts'

const usage = 'npx supergraph-gateway SOURCE [--port 4000] [--host localhost]'

const help = `${usage}

Serves a supergraph at /graphql, over HTTP and, where ws and graphql-ws are installed, over WebSocket.

SOURCE   a file with the SDL of a supergraph, http(s) addresses of it with commas between, or uplink

Variables:
  PROPAGATE_HEADERS        names of request headers that subgraphs get, with commas between
  <NAME>_URL               address of a subgraph, instead of the one in the supergraph
  OPERATION_TIMEOUT_MS     ms that requests of an operation may take together (30000)
  ANSWER_BYTES             maximum bytes of an answer (16777216)
  SUPERGRAPH_POLL_MS       ms between two questions to an address (10000)
  SUPERGRAPH_HEADERS       JSON object of headers for an address
  HIVE_CDN_KEY             key of an address of Hive
  APOLLO_KEY, APOLLO_GRAPH_REF, APOLLO_UPLINK_ENDPOINTS
                           for uplink
`

export interface Started {
  readonly url: string
  stop(): Promise<void>
}

/** What a command writes, and what it reads besides its words. */
export interface Terminal {
  print(line: string): void
  complain(line: string): void
  readonly settings: SourceSettings
}

/**
 * Runs the command.
 * @returns what was started; null where there was nothing to start
 * @throws Error with one line for a wrong call, or a supergraph that cannot be served
 */
export async function runCommand(words: readonly string[], terminal: Terminal): Promise<Started | null> {
  const { values, positionals } = readWords(words)
  if (values.help) return said(terminal, help)
  if (values.version) return said(terminal, version)
  const [named, ...more] = positionals
  if (named === undefined || more.length > 0) throw new Error(`name one supergraph: ${usage}`)
  const port = Number(values.port ?? 4000)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port must be a number from 0 to 65535: ${usage}`)
  return start(named, { port, host: values.host ?? 'localhost' }, terminal)
}

function readWords(words: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options: { port: text, host: text, help: flag, version: flag } })
  } catch (cause) {
    throw new Error(`${(cause as Error).message.split('.', 1)[0]}: ${usage}`, { cause })
  }
}

function said({ print }: Terminal, text: string): null {
  print(text.trimEnd())
  return null
}

async function start(
  named: string,
  { port, host }: { readonly port: number; readonly host: string },
  { print, complain, settings }: Terminal,
): Promise<Started> {
  const logger: Logger = { debug() {}, info() {}, warn: complain, error: complain }
  const open = (supergraphSdl: string): PublicEngine =>
    forClients(createEngine({ supergraphSdl, logger, ...createSubgraphHeaders(settings), ...limitsOf(settings) }), complain)
  let engine: PublicEngine | undefined
  const manager = sourceOf(named, settings, logger)
  const { supergraphSdl, cleanup } = await manager.initialize({
    update(changed) {
      // What runs on the former graph ends there.
      engine = open(changed)
      complain('the supergraph has changed: the new graph is in use')
    },
    healthCheck: async () => {},
    getDataSource() {
      throw new Error('A source of the command line asks no subgraph')
    },
  })
  try {
    engine ??= open(supergraphSdl)
    const door = createDoor(() => engine!)
    await listening(door, port, host)
    const closeSockets = await serveSockets(door, () => engine!)
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${(door.address() as AddressInfo).port}/graphql`
    print(`ready: ${url}`)
    return {
      url,
      async stop() {
        await cleanup?.()
        await engine!.stop()
        await closeSockets()
        door.closeAllConnections()
        await new Promise(resolve => door.close(resolve))
      },
    }
  } catch (cause) {
    await cleanup?.()
    throw cause
  }
}

function limitsOf(settings: SourceSettings): { operationTimeoutMs?: number; answerBytes?: number } {
  const whole = (name: string) => {
    const text = settings[name]
    if (text === undefined) return undefined
    if (!/^[1-9]\d{0,9}$/.test(text)) throw new Error(`${name} must be a whole number, at least 1`)
    return Number(text)
  }
  const [operationTimeoutMs, answerBytes] = [whole('OPERATION_TIMEOUT_MS'), whole('ANSWER_BYTES')]
  return { ...(operationTimeoutMs !== undefined && { operationTimeoutMs }), ...(answerBytes !== undefined && { answerBytes }) }
}

const listening = (door: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) => reject(new Error(`port ${port} of ${host} cannot be used: ${cause.code}`, { cause }))
    door.once('error', failed)
    door.listen(port, host, () => {
      door.off('error', failed)
      resolve()
    })
  })

/** Serves graphql-transport-ws at the same address. @returns how the sockets are closed */
async function serveSockets(door: Server, engineNow: () => PublicEngine): Promise<() => Promise<void>> {
  const [sockets, protocol] = [optional<typeof import('ws')>('ws'), optional<typeof import('graphql-ws/use/ws')>('graphql-ws/use/ws')]
  if (!sockets || !protocol) return async () => {}
  const server = new sockets.WebSocketServer({ server: door, path: '/graphql', maxPayload: mostBytes })
  type Arguments = {
    document: Parameters<GatewayEngine['execute']>[0]['query']
    variableValues?: unknown
    operationName?: string | null
    contextValue?: unknown
  }
  const asked = ({ document, variableValues, operationName, contextValue }: Arguments) => ({
    query: document,
    variables: (variableValues ?? {}) as Record<string, unknown>,
    operationName,
    context: contextValue as Record<string, unknown>,
  })
  const served = protocol.useServer(
    {
      onSubscribe(_socket, _id, { query, variables, operationName }) {
        const { schema, read } = engineNow()
        const reading = read(query)
        // The errors of a document are answered as they are; whatever else is wrong, the engine answers.
        return 'errors' in reading
          ? reading.errors
          : { schema, document: reading.document, ...(variables && { variableValues: variables }), ...(operationName && { operationName }) }
      },
      context: ({ extra }) => ({ headers: (extra as { request: { headers: object } }).request.headers }),
      execute: given => engineNow().execute(asked(given as Arguments)) as never,
      subscribe: given => engineNow().subscribe(asked(given as Arguments)) as never,
    },
    server,
  )
  return async () => void (await served.dispose())
}
