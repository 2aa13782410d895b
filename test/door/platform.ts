import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { type ExecutionResult, execute, GraphQLError, type GraphQLSchema, getOperationAST, getVariableValues, print, subscribe } from 'graphql'
import type { AccessFilter } from '../../router/access/decision.ts'
import { createLog } from '../../router/door/log.ts'
import type { Engine, LiveEvent, LiveStream, OperationRequest, ResultStream } from '../../router/engine/engine.ts'
import { createRouter, type RouterOptions } from '../../router/router.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { memoryAuthority } from './authority.ts'

/** What resolvers of a test's schema receive. */
export interface TestContext {
  readonly viewer: Viewer
  readonly signal: AbortSignal | undefined
}

/** An engine over one executable schema: graphql-js itself, behind the port that every door knows. */
export function schemaEngine(schema: GraphQLSchema, access?: AccessFilter): Engine {
  const prepare = ({ document, operationName, variables, viewer, signal }: OperationRequest) => {
    const operation = getOperationAST(document, operationName)
    const coerced = getVariableValues(schema, operation?.variableDefinitions ?? [], variables ?? {})
    if (coerced.errors) return { errors: coerced.errors.map(error => new GraphQLError(error.message, { extensions: { code: 'BAD_USER_INPUT' } })) }
    const decision = access?.filter(document, operationName, viewer)
    const errors = decision?.errors.map(({ message, path, extensions }) => new GraphQLError(message, { path, extensions })) ?? []
    if (decision?.refusedWhole) return { data: null, errors }
    if (decision?.document === null) return { data: {}, errors }
    const contextValue: TestContext = { viewer, signal }
    return { args: { schema, document: decision?.document ?? document, operationName, variableValues: variables, contextValue }, errors }
  }
  const withErrors = (result: ExecutionResult, errors: readonly GraphQLError[]): ExecutionResult =>
    errors.length > 0 ? { ...result, errors: [...errors, ...(result.errors ?? [])] } : result
  async function begin(request: OperationRequest): Promise<ResultStream | ExecutionResult> {
    const ready = prepare(request)
    return 'args' in ready ? ((await subscribe(ready.args!)) as ResultStream | ExecutionResult) : ready
  }
  return {
    schema,
    async execute(request) {
      const ready = prepare(request)
      return 'args' in ready ? withErrors(await execute(ready.args!), ready.errors) : ready
    },
    async prepareStream(request) {
      const { document, operationName = null, variables, viewer } = request
      return {
        key: JSON.stringify([print(document), operationName, variables, viewer]),
        operationName,
        start: async signal => live(await begin({ ...request, signal })),
      }
    },
    async warm() {},
  }
}

/** A stream as the engine has it: what the operation fails by is an answer of it. */
function live(stream: ResultStream | ExecutionResult): LiveStream | ExecutionResult {
  if (!(Symbol.asyncIterator in stream)) return stream
  let lost = false
  const told = ({ value, done }: IteratorResult<ExecutionResult>): IteratorResult<LiveEvent> =>
    done ? { value: undefined, done } : { value: { answer: value, about: null } }
  return {
    next: () =>
      stream.next().then(told, cause => {
        lost = true
        return { value: { answer: { errors: [cause as GraphQLError] }, about: null } }
      }),
    return: () => stream.return().then(told),
    isLost: () => lost,
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/** A router that listens on loopback, with the world behind it that a test gives it. */
export async function openRouter(
  engine: Engine,
  options: Partial<RouterOptions> & { readonly prepare?: (identity: Awaited<ReturnType<typeof memoryAuthority>>) => Promise<void> } = {},
) {
  const port = await freePort()
  const publicUrl = `http://localhost:${port}`
  const identity = await memoryAuthority(publicUrl)
  await identity.addSigningKey('first')
  await options.prepare?.(identity)
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  let passed = 0
  const router = await createRouter({
    engine,
    authority: identity.authority,
    subgraphs: [],
    tables: [],
    host: 'localhost',
    port,
    publicUrl,
    environment: 'development',
    clock: identity.clock,
    elapsed: () => performance.now() + passed,
    log: createLog('debug', destination),
    readiness: [],
    ...options,
  })
  const { urls } = await router.listen()
  const url = `http://127.0.0.1:${port}`
  return {
    ...identity,
    router,
    port,
    url,
    urls,
    origin: publicUrl,
    lines,
    /** Lets so much time pass for what the router remembers of credentials. */
    pass: (milliseconds: number) => {
      passed += milliseconds
    },
    /** Asks over node:http, which lets a test set Host and any other header. */
    ask: (path: string, asked: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {}) => ask(port, path, asked),
    gql: (query: string, headers: Record<string, string> = {}, variables?: Record<string, unknown>) =>
      ask(port, '/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      }),
    close: () => router.close(),
    [Symbol.asyncDispose]: () => router.close(),
  }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly json: any
}

function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string | Buffer },
) {
  return new Promise<Answer>((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: { host: `localhost:${port}`, ...headers }, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', part => {
        text += part
      })
      response.on('end', () => {
        let json: unknown
        try {
          json = JSON.parse(text)
        } catch {}
        resolve({ status: response.statusCode!, headers: response.headers, text, json })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}
