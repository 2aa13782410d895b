import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as oauth from 'oauth4webapi'
import type { BoundClock } from '../../platform/clock.ts'
import { createBoundClock } from '../../platform/clock.ts'
import type { Sandbox, SandboxOptions } from '../../sandbox/server.ts'
import { startSandbox } from '../../sandbox/server.ts'

export const callback = 'http://localhost:4000/publishing/api/integrations/x/callback'
export const everyScope = 'tweet.read tweet.write users.read media.write offline.access'

export interface Stage extends AsyncDisposable {
  readonly sandbox: Sandbox
  readonly folder: string
  readonly clock: BoundClock
  /** Calls an address of the played X with an access token. */
  call(token: string, method: string, path: string, body?: unknown): Promise<Answer>
  arm(fault: Record<string, unknown>): Promise<Answer>
  received(): Promise<{ id: string; text: string; receivedAt: string }[]>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field
  readonly body: any
}

/** A sandbox on a free port with its own folder and a clock that stands still; gone with the scope. */
export async function stage(start = '2026-03-01T12:00:00.000Z', options: Pick<SandboxOptions, 'endpoints'> = {}): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
  const clock = createBoundClock(new Date(start))
  const sandbox = await startSandbox({ folder, port: 0, clock, redirectUris: [callback], ...options })
  return {
    sandbox,
    folder,
    clock,
    call: (token, method, path, body) =>
      send(`${sandbox.origin}/x${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    arm: fault =>
      send(`${sandbox.origin}/_control/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ network: 'x', ...fault }),
      }),
    received: async () => (await send(`${sandbox.origin}/_control/received?network=x`)).body,
    async [Symbol.asyncDispose]() {
      await sandbox.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function send(address: string, options: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(10_000), ...options })
  const text = await answer.text()
  const isJson = /json/.test(answer.headers.get('content-type') ?? '')
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
}

/** The form that the token endpoint takes, from the demo application. */
export function post(
  sandbox: Sandbox,
  path: string,
  form: Record<string, string>,
  credentials = `${sandbox.demo.x.clientId}:${sandbox.demo.x.clientSecret}`,
): Promise<Answer> {
  return send(`${sandbox.origin}/x${path}`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: new URLSearchParams(form),
  })
}

export const serverOf = (sandbox: Sandbox): oauth.AuthorizationServer => ({
  issuer: `${sandbox.origin}/x`,
  authorization_endpoint: `${sandbox.origin}/x/i/oauth2/authorize`,
  token_endpoint: `${sandbox.origin}/x/2/oauth2/token`,
  revocation_endpoint: `${sandbox.origin}/x/2/oauth2/revoke`,
})

/** X's form of client authentication: id and secret as they are, then base64. */
export const plainBasic =
  (secret: string): oauth.ClientAuth =>
  (_server, client, _body, headers) =>
    headers.set('authorization', `Basic ${btoa(`${client.client_id}:${secret}`)}`)

/** An authorization request that would be granted, to be bent by a test. */
export function wish(sandbox: Sandbox, changes: Record<string, string> = {}): { address: URL; verifier: string } {
  const verifier = 'a-verifier-of-more-than-forty-three-characters-0'
  const address = new URL(serverOf(sandbox).authorization_endpoint!)
  const parameters = {
    response_type: 'code',
    client_id: sandbox.demo.x.clientId,
    redirect_uri: callback,
    scope: everyScope,
    state: 'a state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    sandbox_approve: '1',
    ...changes,
  }
  for (const [name, value] of Object.entries(parameters)) if (value !== '') address.searchParams.set(name, value)
  return { address, verifier }
}
