import type { ServiceApp, ServiceTokens } from '../../router/access/callers/services.ts'
import type { Usage } from '../../router/metrics/usage/usage.ts'
import { createRouter } from '../../router/router.ts'
import type { Supergraph } from './supergraph.ts'

/** What a route answered. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: an answer has the shape of its route, which each test writes out
  readonly json: any
}

export interface Door extends AsyncDisposable {
  /**
   * Sends a request through every room of the router, without a socket. A body is sent as JSON, bytes as they are.
   * @param options.from the caller's address @default this machine's
   */
  ask(method: string, path: string, options?: { readonly headers?: Record<string, string>; readonly body?: unknown; readonly from?: string }): Promise<Reply>
  /** Signs in by password; throws when that is refused. */
  signIn(email: string, password: string, from?: string): Promise<{ authorization: string }>
}

/**
 * Opens the router before a supergraph, with every route of the platform.
 * @param tokens of services @default none
 * @param apps that are registered besides the platform's own @default none
 * @param counts whether it tells what the supergraph counts, which one door of it can @default false
 * @param usage that records what is used @default nothing is recorded
 * @param elapsed milliseconds by which it is decided what is still remembered @default those that pass
 */
export async function openDoor(
  { platform, publicUrl, clock, job, metrics, secrets }: Supergraph,
  {
    counts = false,
    tokens,
    apps = [],
    usage,
    elapsed,
  }: {
    readonly usage?: Usage
    readonly counts?: boolean
    readonly tokens?: ServiceTokens
    readonly apps?: readonly ServiceApp[]
    readonly elapsed?: () => number
  } = {},
): Promise<Door> {
  const router = await createRouter({
    engine: platform.engine,
    authority: platform.identity.authority,
    subgraphs: platform.subgraphs,
    ...(tokens && {
      callers: { tokens, registrations: [...apps, ...platform.subgraphs.map(({ registration }) => registration)], gateway: platform.providers },
    }),
    host: 'localhost',
    port: 0,
    publicUrl,
    environment: 'development',
    clock,
    log: job.log,
    readiness: [],
    tracing: secrets.tracing,
    ...(counts && { metrics }),
    ...(usage && { usage }),
    ...(elapsed && { elapsed }),
  })
  const ask: Door['ask'] = async (method, path, { headers = {}, body, from } = {}) => {
    const answer = await router.app.inject({
      method: method as 'GET',
      url: path,
      ...(from !== undefined && { remoteAddress: from }),
      headers: { host: new URL(publicUrl).host, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { payload: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    })
    const isJson = answer.body !== '' && /json/.test(String(answer.headers['content-type']))
    const json = isJson ? JSON.parse(answer.body) : null
    if (Buffer.isBuffer(body)) secrets.noteFields(new URLSearchParams(body.toString()))
    else secrets.note(body)
    secrets.note(json)
    secrets.noteCookies(answer.headers['set-cookie'])
    secrets.noteFields(new URLSearchParams(String(answer.headers.location ?? '').split('?')[1]))
    return { status: answer.statusCode, headers: answer.headers, text: answer.body, json }
  }
  return {
    ask,
    async signIn(email, password, from) {
      const { status, json, text } = await ask('POST', '/identity/api/auth/sign-in/email', { body: { email, password }, ...(from && { from }) })
      if (status !== 200) throw new Error(`${email} cannot sign in: ${status} ${text}`)
      return { authorization: `Bearer ${json.accessToken}` }
    },
    [Symbol.asyncDispose]: () => router.close(),
  }
}
