import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { type ExecutionResult, execute, GraphQLError, type GraphQLSchema, getOperationAST, getVariableValues, subscribe } from 'graphql'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { createBoundClock } from '../../platform/clock.ts'
import { createLog } from '../../router/door/log.ts'
import type { AccessFilter, Engine, OperationRequest, ResultStream } from '../../router/engine/engine.ts'
import { createRouter, type RouterOptions } from '../../router/router.ts'
import type { Authority, StandingKey, StandingSession } from '../../subgraphs/authority.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'

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
  return {
    schema,
    async execute(request) {
      const ready = prepare(request)
      return 'args' in ready ? withErrors(await execute(ready.args!), ready.errors) : ready
    },
    async subscribe(request) {
      const ready = prepare(request)
      return 'args' in ready ? ((await subscribe(ready.args!)) as ResultStream | ExecutionResult) : ready
    },
    async warm() {},
  }
}

const start = new Date('2027-03-01T09:00:00.000Z')

/** Credentials as identity would keep them, in memory: an implementation of the port for doors that have no database. */
export async function memoryAuthority(issuer: string) {
  const clock = createBoundClock(start)
  const sessions = new Map<string, StandingSession>()
  const keys = new Map<string, StandingKey>()
  const published: JWK[] = []
  const signing = new Map<string, CryptoKey>()
  const asked = { sessions: 0, jwks: 0, cookie: 0, keys: 0 }
  const touched: string[] = []
  let down = false
  const up = () => {
    if (down) throw new Error('the database of identity is down')
  }
  const authority: Authority = {
    issuer,
    audience: 'supergraph',
    async jwks() {
      up()
      asked.jwks += 1
      return { keys: [...published] }
    },
    async sessions(ids) {
      up()
      asked.sessions += 1
      return new Map(ids.flatMap(id => (sessions.has(id) ? [[id, sessions.get(id)!] as const] : [])))
    },
    async cookie(headers) {
      up()
      asked.cookie += 1
      const id = /(?:^|; *)session=([^;]+)/.exec(headers.get('cookie') ?? '')?.[1]
      if (!id) return null
      const session = sessions.get(id)
      return session ? { ...session, sessionId: id } : 'stale'
    },
    clearCookie: () => ['session=; Max-Age=0; Path=/', 'other=; Max-Age=0; Path=/'],
    hashKey: clear => `hash of ${clear}`,
    async keys(hashes) {
      up()
      asked.keys += 1
      return new Map(hashes.flatMap(hash => (keys.has(hash) ? [[hash, keys.get(hash)!] as const] : [])))
    },
    async keysById(ids) {
      up()
      return new Map([...keys.values()].filter(key => ids.includes(key.keyId)).map(key => [key.keyId, key]))
    },
    touchKeys: ids => void touched.push(...ids),
    ready: async () => up(),
  }
  return {
    authority,
    clock,
    sessions,
    keys,
    asked,
    /** Ids of keys whose use was noted. */
    touched,
    fail: (state: boolean) => {
      down = state
    },
    /** Publishes a signing key. */
    async addSigningKey(kid: string) {
      const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
      signing.set(kid, privateKey)
      published.push({ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' })
    },
    /** A session of a member of an organization. */
    signIn(id: string, session: Partial<StandingSession> = {}) {
      const given = {
        userId: `user of ${id}`,
        organizationId: 'org-1',
        roles: ['member'],
        context: 'organization' as const,
        expiresAt: new Date('2028-01-01'),
        ...session,
      }
      const whole: StandingSession = { memberships: given.organizationId === null ? {} : { [given.organizationId]: given.roles }, ...given }
      sessions.set(id, whole)
      return whole
    },
    /** An access token of a session, as identity signs it. */
    token(sid: string, claims: Record<string, unknown> = {}, kid = [...signing.keys()].at(-1)!) {
      const session = sessions.get(sid)!
      const now = Math.floor(clock.now().getTime() / 1000)
      return new SignJWT({ sid, org: session.organizationId, ctx: session.context, roles: session.roles, sub: session.userId, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: 'EdDSA', kid })
        .setIssuer(String(claims.iss ?? issuer))
        .setAudience(String(claims.aud ?? 'supergraph'))
        .sign(signing.get(kid)!)
    },
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
